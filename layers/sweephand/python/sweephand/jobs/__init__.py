"""The use cases of jobs: validating, writing, pausing, resuming, bulk calls, triggers on demand. Pure."""
