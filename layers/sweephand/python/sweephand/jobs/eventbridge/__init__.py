"""Schedules of EventBridge Scheduler as jobs. The client's import uses this room too (decision 223)."""
