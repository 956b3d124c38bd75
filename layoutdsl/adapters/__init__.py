"""What carries layouts to other people's programs, behind the names that these know."""
