"""The native target."""
