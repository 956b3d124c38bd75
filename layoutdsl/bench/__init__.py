"""How fast a layout is packed: the default cases, and how one is measured."""
