"""Files of weights: what each format says of its tensors, and where it puts them."""
