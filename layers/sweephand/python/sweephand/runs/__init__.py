"""Use cases of triggers and runs: intake, delivery, attempts, notifications, deadlines, callbacks."""
