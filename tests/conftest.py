"""The order of the tests, and whether one may be skipped."""

import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import botocore.session
import pytest
from hypothesis import settings

HERE = Path(__file__).parent

#: .ci/run sets it. That script installs everything that tests need, so no test may be skipped.
SKIPS_NOTHING = "SWEEPHAND_SKIP_NOTHING"

#: .ci/run sets it to a number that it takes from the commit. Without it, every case runs.
SAMPLE = "SWEEPHAND_SAMPLE"

#: Folders and files whose tests take long. A sample has one of so many parts. A mark of a test goes first.
SAMPLED = {
    "contract": 2,
    "integration/console": 4,
    "unit/jobs/test_verbs_at_once.py": 3,
    "unit/runs/test_async_kills.py": 3,
    "unit/runs/test_overlap_races.py": 3,
    "unit/schedules/test_properties.py": 3,
    "unit/wheel/test_interleavings.py": 3,
    "unit/wheel/test_kills.py": 3,
}


# A slow machine must not fail a test. A sample has a quarter of the examples too.
USUAL = settings.get_profile(settings.get_current_profile_name())
settings.register_profile(
    "unhurried", USUAL, deadline=None, max_examples=USUAL.max_examples // (4 if os.environ.get(SAMPLE) else 1)
)
settings.load_profile("unhurried")


# botocore reads the models of services from its files once in a process, and not anew for each session. moto
# gives each test a session of its own, so reading took four fifths of the time to set up a test.
botocore.session.create_loader = cache(botocore.session.create_loader)


#: The folders in the order in which their tests run: the tests that fail fastest come first.
ROOMS = ("unit", "models", "orders", "template", "contract", "integration", "simulation", "e2e")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the tests by folder. Leave out what is not in the sample of this commit.

    Let one process run all tests on DynamoDB Local. Each process would start one of its own, and each would
    compile the same code.
    """
    for item in items:
        path = item.path.relative_to(HERE)
        parts = SAMPLED.get(path.as_posix()) or SAMPLED.get(path.parent.as_posix())
        if parts and not item.get_closest_marker("sampled"):
            item.add_marker(pytest.mark.sampled(parts))
    if os.environ.get(SAMPLE):
        others = set(outside_of_sample(items, int(os.environ[SAMPLE])))
        config.hook.pytest_deselected(items=list(others))
        items[:] = [each for each in items if each not in others]
    items.sort(key=lambda item: ROOMS.index(item.path.relative_to(HERE).parts[0]))
    for item in items:
        if item.get_closest_marker("dynamodb_local"):
            item.add_marker(pytest.mark.xdist_group("dynamodb_local"))


def outside_of_sample(items: list[pytest.Item], number: int) -> Iterator[pytest.Item]:
    """The cases that a sample leaves out.

    `@pytest.mark.sampled(parts)` divides the cases of a module into this many parts, by turns. The number
    chooses the part that runs. Any `parts` numbers in a row run each case once.
    """
    seen: Counter[tuple[Path, int]] = Counter()
    for item in items:
        if marker := item.get_closest_marker("sampled"):
            [parts] = marker.args
            if seen[item.path, parts] % parts != number % parts:
                yield item
            seen[item.path, parts] += 1


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the stacks of the end-to-end tests go before the other tests, which wait for nobody."""
    if item.get_closest_marker("e2e") is None and "PYTEST_XDIST_WORKER" in os.environ:
        _make_room()


@cache
def _make_room() -> None:
    os.nice(5)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fails if pytest-xdist cannot tell its scheduler which tests are a group.

    It adds the group to the id of a test, and pytest 9.2 computes that id anew. Without groups, each process
    starts stacks of its own.
    """
    if not session.config.getoption("loadgroup", default=False) or not hasattr(session.config, "workerinput"):
        return
    grouped = [item for item in session.items if item.get_closest_marker("xdist_group")]
    if any("@" not in item.nodeid for item in grouped):
        raise pytest.UsageError("pytest and pytest-xdist do not fit: the groups of tests have no effect")


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
