"""Other notations for layouts: each is read into our meaning, and printed from it.

One file per notation, imported when it is first asked for; the table in `notation.py` names them.
"""
