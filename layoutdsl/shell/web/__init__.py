"""A page on this machine that asks about one text: its server, and the processes that answer."""
