"""The fixtures of the suites of the ports."""

from tests.fakes.engine_fixtures import *  # noqa: F403 - pytest finds fixtures by their names in this module
