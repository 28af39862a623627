"""What Sweephand costs, how fast it starts and how late it is, measured by `make bench`."""
