"""Runs: one trigger and its attempts, the transition table, retries, delivering. Pure."""
