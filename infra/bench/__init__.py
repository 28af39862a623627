"""Measurements of what Sweephand costs, how fast it starts and how late it is (`make bench`)."""
