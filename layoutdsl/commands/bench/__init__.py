"""How fast tensors are packed, unpacked and converted: beside a copy, and beside other packages."""
