"""Two layouts next to each other: equal, equal for some shapes, or different, and in what."""
