"""Translation validation: proofs that generated code does what its layout means.

`arrays` reads NumPy modules, `loops` the C of one move, and `records` the C of records. Texts are
parsed and never run. No file here knows how texts are generated.

>>> len(arrays.validate(text, layout, source=source).seal)
64
"""
