"""The command line `sweephand`: reads options, runs one task, and prints its result."""
