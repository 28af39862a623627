"""The fixtures of the tests of the stores."""

from tests.fakes.engine_fixtures import *  # noqa: F403 - pytest finds fixtures by their names in this module
