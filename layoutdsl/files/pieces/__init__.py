"""Files of tensors packed and unpacked piece by piece, in memory that is bounded."""
