"""Moves the schedules of EventBridge Scheduler: reads them, makes their jobs, and disables them."""
