"""Texts that try to be markup or script on a page; each sets `window.ran` where it gets its way."""

from __future__ import annotations

MARKUP = (
    "<script>window.ran=1</script>",
    "<img src=x onerror=window.ran=1>",
    "<svg onload=window.ran=1>",
    "</textarea><script>window.ran=1</script>",
    "</pre><script>window.ran=1</script>",
    "</script><script>window.ran=1</script>",
    "<iframe srcdoc='<script>parent.ran=1</script>'>",
    "<a href=javascript:window.ran=1>x</a>",
    '" onfocus=window.ran=1 autofocus="',
    "' onmouseover=window.ran=1 '",
    "--><script>window.ran=1</script>",
    "]]><script>window.ran=1</script>",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content=0;url=about:blank>",
    "&lt;script&gt;window.ran=1&lt;/script&gt;",
    "${window.ran=1}",
    "\u2028window.ran=1\u2029",
    "\u202ewindow.ran=1",
    "<base href=about:blank>",
    "<form action=javascript:window.ran=1><input autofocus onfocus=window.ran=1>",
    "javascript:window.ran=1",
    "<details open ontoggle=window.ran=1>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.ran=1>",
    "\x00<script>window.ran=1</script>",
    "<%00script>window.ran=1</script>",
)

HOSTILE = (
    *(f"# {each}\nlayout A(n, c) = [n, c/4, c%4]\n" for each in MARKUP),
    *(f'layout A(n, c) = "{each}"\n' for each in MARKUP[:10]),
    *(f"layout {each}(n) = [n]\n" for each in MARKUP[:6]),
    *(f"layout A(n) = [n]\nprove A == {each}\n" for each in MARKUP[:5]),
    *(f'layout A = onednn "{each}"\n' for each in MARKUP[:4]),
)
"""Remarks, strings, names, formulas and texts of other notations."""

assert len(HOSTILE) >= 50
