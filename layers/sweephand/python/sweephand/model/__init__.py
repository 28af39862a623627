"""The values that travel between the rooms, and the one encoding of each. Pure."""
