"""The order of the tests, and whether one may be skipped."""

import os
from collections import Counter

import pytest
from hypothesis import settings

#: Set by .ci/run, which installs everything that a test could miss.
SKIPS_NOTHING = "SWEEPHAND_SKIP_NOTHING"


# A machine that does something else beside the tests is no failure of what they test.
settings.register_profile(
    "unhurried", settings.get_profile(settings.get_current_profile_name()), deadline=None
)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The end-to-end tests come last, but for what has to ripen: that is begun before everything else."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    is_of = {name: item.get_closest_marker(name) is not None for name in ("comes_first", "e2e", "comes_last")}
    return -1 if is_of["comes_first"] else is_of["e2e"] + is_of["comes_last"]


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
