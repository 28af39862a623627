"""Wall clocks: time zones, clock changes, and the instants at which a clock shows a pattern. Pure."""
