"""What a schedule means: expressions to occurrences, zones and DST. Pure."""
