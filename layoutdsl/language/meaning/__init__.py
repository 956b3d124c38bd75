"""What layouts, tables and claims mean, in plain integers."""
