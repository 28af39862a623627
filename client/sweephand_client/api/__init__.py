"""The calls of the API as methods with types."""
