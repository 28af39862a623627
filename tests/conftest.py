"""The order of the tests, and whether one may be skipped."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent

#: Set by .ci/run, which installs everything that a test could miss.
SKIPS_NOTHING = "SWEEPHAND_SKIP_NOTHING"


# A machine that does something else beside the tests is no failure of what they test.
settings.register_profile(
    "unhurried", settings.get_profile(settings.get_current_profile_name()), deadline=None
)
settings.load_profile("unhurried")


#: The folders in the order in which their tests run: what fails fastest comes first.
ROOMS = ("unit", "template", "contract", "integration", "simulation", "e2e")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests by folder.

    An end-to-end test that begins something which takes minutes comes before all others. The test that looks
    at the result comes last.
    """
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    if item.get_closest_marker("comes_first") is not None:
        return -1
    if item.get_closest_marker("comes_last") is not None:
        return len(ROOMS)
    return ROOMS.index(item.path.relative_to(HERE).parts[0])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Each reason for skipping once, with the number of tests: one thing missing skips a hundred."""
    skipped = terminalreporter.stats.get("skipped", ())
    for reason, count in Counter(str(report.longrepr[2]) for report in skipped).most_common():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}", yellow=True)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> object:
    """Fails the run, though no test failed, if one was skipped where nothing may be."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = len(reporter.stats.get("skipped", ())) if reporter else 0
    if reporter and skipped and os.environ.get(SKIPS_NOTHING) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(f"{skipped} skipped, and {SKIPS_NOTHING} is set", red=True)
    return (yield)
