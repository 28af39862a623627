"""Sweephand beside other schedulers, measured in one run."""
