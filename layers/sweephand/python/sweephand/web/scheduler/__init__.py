"""The API of EventBridge Scheduler (botocore, scheduler/2021-06-30), answered by jobs."""
