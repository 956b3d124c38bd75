"""NumPy code is generated, validated and run without the packages of the extra `native`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pycparser", "cffi", "_cffi_backend"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import layoutdsl
import numpy as np

assert layoutdsl.generate("NCHW4c").text
assert layoutdsl.generate_record("Q4_0").files
packed = layoutdsl.compile("NCHW4c").pack(np.ones((1, 5, 2, 2)))
assert layoutdsl.convert("NCHW4c", "NHWC")(packed, (1, 5, 2, 2)).shape == (1, 2, 2, 5)
"""


def test_numpy_needs_no_reader_of_c(tmp_path: Path) -> None:
    words = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
