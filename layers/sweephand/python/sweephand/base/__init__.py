"""What every room may use: errors, limits, instants, and the constants of time. Pure."""
