"""The site: `sphinx-build -W -n docs site`. `site_parts.py` has what is not usual about it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from site_parts import palette

from layoutdsl import __version__

project = "layoutdsl"
author = "the authors of layoutdsl"
project_copyright = "Apache-2.0"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "site_parts",
]
exclude_patterns = ["_build"]
default_role = "code"

# Headings are linked to by the names that GitHub gives them; a code of a fault by itself: `#l202`.
myst_heading_anchors = 4
myst_heading_slug_func = "site_parts.slug"

# Packages that only some have; their modules are described without.
autodoc_mock_imports = ["torch", "dask", "IPython"]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": False}
# Types are written with names that the site has no page for.
nitpick_ignore_regex = [(r"py:(class|obj|data|exc|meth|func|mod|attr)", r".*")]

html_theme = "furo"
html_title = "layoutdsl"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
# The colours are those of all pages of layoutdsl, pictures and the playground among them.
light, dark = palette()
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": light,
    "dark_css_variables": dark,
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# What is copied of a session is what was typed.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
