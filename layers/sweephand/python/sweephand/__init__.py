"""Sweephand: a job scheduler that runs in its user's own AWS account."""

#: The one place of the version. All that `make dist` writes has it from here, and a test compares
#: template.yaml with it.
__version__ = "1.0.0"
