"""What padding costs: the slots per element of a layout, at one shape and at worst."""
