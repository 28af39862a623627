"""What every room may use: errors, limits, instants, and the time constants. Pure."""
