"""A fuzzer of all that is emitted but compiled C: layouts are drawn, and what is emitted is run.

Modules of numpy, conversions, printed formulas and C functions are held against a second reading of
the text in plain integers (`mutants.oracle`), never against each other or themselves alone.
"""
