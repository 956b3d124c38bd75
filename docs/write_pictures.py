"""Write the two pictures of the README: `python docs/write_pictures.py`.

`buffer.svg` draws a packed buffer beside its tensor; the positions are those of `Layout.offset`.
`speed.svg` is a chart of the first table of `benchmarks.md`, so change the numbers there.
Both are read as `<img>`, where no style sheet of a page applies: each brings its own background,
and dark colours for systems that prefer them.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import layoutdsl

DOCS = Path(__file__).parent
STATIC = DOCS / "_static"

TEXT = "layout NCHW4c(n, c, h, w) = [n, c/4, h, w, c%4] fill 0"
SHAPE = (1, 6, 1, 3)

STYLE = """\
text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
.small { font-size: 11px; fill: #59636e }
.cell { font: 12px ui-monospace, SFMono-Regular, Menlo, monospace; text-anchor: middle }
.right { text-anchor: end }
.strong { font-weight: 600 }
.page { fill: #ffffff; stroke: #d1d9e0 }
.a { fill: #b0d7ff }
.b { fill: #ffd3a8 }
.padding { fill: #eff1f3 }
.line, .hatch { fill: none; stroke: #59636e }
.hatch { stroke-opacity: 0.5 }
.ours { fill: #0969da }
.other { fill: #afb8c1 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .small { fill: #9198a1 }
  .page { fill: #0d1117; stroke: #3d444d }
  .a { fill: #1d4f80 }
  .b { fill: #7a4a1c }
  .padding { fill: #21262d }
  .line, .hatch { stroke: #9198a1 }
  .ours { fill: #4493f8 }
  .other { fill: #656c76 }
}
"""


def main() -> None:
    """Write both files."""
    for name, picture in pictures().items():
        (STATIC / name).write_text(picture, encoding="utf-8")


def pictures() -> dict[str, str]:
    """Return the text of each picture by the name of its file."""
    return {"buffer.svg": buffer_picture(), "speed.svg": speed_chart()}


# Buffer beside tensor.

CELL_WIDTH, CELL_HEIGHT = 36, 26


def buffer_picture() -> str:
    """Draw the tensor on the left, the buffer on the right, with a row for each block."""
    layout = layoutdsl.parse(TEXT)["NCHW4c"]
    _, channels, _, width = SHAPE
    _, blocks, _, _, block = layout.physical_shape(SHAPE)
    slots = {
        layout.offset((0, c, 0, w), SHAPE): (c, w) for c in range(channels) for w in range(width)
    }
    parts = [
        _text(24, 32, "Tensor", "strong"),
        _text(24, 50, f"c = {channels}, w = {width}", "small"),
    ]
    top = 84
    parts += [
        _text(56 + CELL_WIDTH * w + CELL_WIDTH / 2, top - 8, f"w={w}", "small cell")
        for w in range(width)
    ]
    for c in range(channels):
        y = top + CELL_HEIGHT * c
        parts.append(_text(50, y + 17, f"c={c}", "small right"))
        parts += [
            _cell(56 + CELL_WIDTH * w, y, f"{c},{w}", "ab"[c // block % 2]) for w in range(width)
        ]

    left = 212
    parts.append(_text(left, 32, "Buffer", "strong"))
    parts.append(
        _text(left, 50, "c/4 is a row, c%4 runs fastest; hatched slots are padding", "small")
    )
    per_row = width * block
    for row in range(blocks):
        y = top + (CELL_HEIGHT + 52) * row + 12
        parts.append(
            _text(
                left,
                y - 8,
                f"c/4 = {row}, offsets {per_row * row} to {per_row * (row + 1) - 1}",
                "small",
            )
        )
        for column in range(per_row):
            x = left + CELL_WIDTH * column
            element = slots.get(per_row * row + column)
            if element is None:
                parts.append(_padding(x, y))
            else:
                parts.append(_cell(x, y, "{},{}".format(*element), "ab"[row % 2]))
        for w in range(width):
            x = left + CELL_WIDTH * block * w
            end = x + CELL_WIDTH * block
            parts.append(f'<path class="line" d="M{x + 3} {y + 31}v5H{end - 3}v-5"/>')
            parts.append(_text((x + end) / 2, y + 50, f"w={w}", "small cell"))
    described = (
        f"The tensor, {channels} channels by {width} columns, beside its buffer: two blocks of "
        "four channels; in the second block two of four slots are padding."
    )
    return _picture(
        left + CELL_WIDTH * per_row + 24, top + CELL_HEIGHT * channels + 20, described, parts
    )


def _cell(x: float, y: float, words: str, colour: str) -> str:
    box = f'<rect class="{colour}" x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}"/>'
    return box + _frame(x, y) + _text(x + CELL_WIDTH / 2, y + 17, words, "cell")


def _padding(x: float, y: float) -> str:
    box = f'<rect class="padding" x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}"/>'
    height = CELL_HEIGHT
    lines = "".join(
        f"M{x + at} {y + height}l{height} -{height}" for at in range(0, CELL_WIDTH - height + 1, 10)
    )
    return f'{box}<path class="hatch" d="{lines}"/>{_frame(x, y)}'


def _frame(x: float, y: float) -> str:
    return f'<path class="line" d="M{x} {y}h{CELL_WIDTH}v{CELL_HEIGHT}h-{CELL_WIDTH}z"/>'


# Speed.

BARS = {
    "native": "layoutdsl, compiled C",
    "tvm": "TVM, compiled for the shape",
    "onednn": "oneDNN reorder",
    "numpy": "layoutdsl, NumPy",
    "jax": "JAX, compiled for the shape",
    "np.pad": "np.pad and transpose",
    "torch": "PyTorch permute",
    "einops": "einops rearrange",
    "numba": "Numba loops",
}
"""Candidates of the benchmark, fastest first, with the words of the chart."""

BAR_LEFT, BAR_LENGTH, BAR_STEP = 210, 420, 27


def speed_chart() -> str:
    """Draw a bar for the share of a plain copy's speed that each candidate reaches."""
    shares = shares_of_copy((DOCS / "benchmarks.md").read_text(encoding="utf-8"))
    parts = [
        _text(24, 32, "Speed of packing and unpacking, as a share of a plain copy", "strong"),
        _text(24, 50, "geometric mean of 128 moves, one thread; longer is faster", "small"),
    ]
    top = 70
    for number, (name, words) in enumerate(BARS.items()):
        y = top + BAR_STEP * number
        length = round(BAR_LENGTH * shares[name], 1)
        colour = "ours" if words.startswith("layoutdsl") else "other"
        parts.append(_text(BAR_LEFT - 10, y + 15, words, "right"))
        parts.append(
            f'<rect class="{colour}" x="{BAR_LEFT}" y="{y}" width="{length}" height="20" rx="3"/>'
        )
        parts.append(_text(BAR_LEFT + length + 8, y + 15, f"{shares[name]:.2f}", ""))
    bottom, copy = top + BAR_STEP * len(BARS), BAR_LEFT + BAR_LENGTH
    parts.append(f'<path class="line" stroke-dasharray="4 4" d="M{copy} {top - 4}V{bottom}"/>')
    parts.append(_text(copy + 8, bottom - 4, "1.0: plain copy", "small"))
    described = "Bar chart: " + ", ".join(f"{BARS[name]} {shares[name]:.2f}" for name in BARS) + "."
    return _picture(copy + 116, bottom + 18, described, parts)


def shares_of_copy(page: str) -> dict[str, float]:
    """Return the column *share of the floor* of the first table of a page, by candidate."""
    table = page.partition("share of the floor")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([\w.]+) \|[^|]*\|[^|]*\| ([\d.]+) \|", table, re.MULTILINE)
    return {name: float(share) for name, share in rows}


def _text(x: float, y: float, words: str, style: str) -> str:
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:g}" y="{y:g}">{escape(words)}</text>'


def _picture(width: float, height: float, described: str, parts: list[str]) -> str:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    page = (
        f'<rect class="page" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="6"/>'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    title = f"<title>{escape(described)}</title>"
    return "\n".join([head, title, f"<style>\n{STYLE}</style>", page, *parts, "</svg>\n"])


if __name__ == "__main__":
    main()
