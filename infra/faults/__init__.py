"""Proves on the local stack that calls that fail and functions that are killed lose no trigger."""
