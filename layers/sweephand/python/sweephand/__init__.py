"""Sweephand: a job scheduler that runs in its user's own AWS account."""

#: The one place of the version. The build of the client reads it here, and a test holds template.yaml and
#: pyproject.toml to it.
__version__ = "1.0.0.dev0"
