"""Rehearses weeks of jobs in simulated time: herds, overlaps, clock changes, failures, and the bill."""
