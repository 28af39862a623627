"""The values that travel between the rooms, and the one form in which each is written. Pure."""
