"""Settings, clock, ids and wiring: the one place where adapters meet use cases."""
