"""Sweephand's engine in one process: the production code over tables and queues in memory."""
