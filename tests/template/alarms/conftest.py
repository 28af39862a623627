"""The fixtures of the stacks that are broken on purpose."""

from tests.fakes.engine_fixtures import aws_environment, on_moto

__all__ = ["aws_environment", "on_moto"]
