"""A move as a tree of loops, planned from digits, proved, and printed as C."""
