"""Settings, clock, ids and threads, and the one place where use cases are given their adapters."""
