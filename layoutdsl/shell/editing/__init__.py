"""What an editor asks of a text while it is written, and the server that answers."""
