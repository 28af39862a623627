"""Sweephand: a job scheduler that runs in its user's own AWS account."""

__version__ = "0.1.0"
