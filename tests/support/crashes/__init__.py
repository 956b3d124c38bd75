"""Runs that are killed at any moment, what others do then, and what the next run makes of it."""
