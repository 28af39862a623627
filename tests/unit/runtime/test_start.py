"""How a function imports its modules."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

import pytest
from tests.fakes.functions import FOLDER, FUNCTIONS, function

from sweephand.runtime.start import starting


@pytest.fixture(autouse=True)
def nothing_stays_frozen() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()
    assert gc.isenabled()


def test_the_collector_is_off_while_a_function_starts() -> None:
    with starting():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_never_examines_the_objects_that_the_start_has_made() -> None:
    with starting():
        made = [[number] for number in range(100)]
    assert gc.get_freeze_count() > len(made)
    assert not any(each is made for each in gc.get_objects())


def test_the_collector_works_again_after_a_start_that_failed() -> None:
    with pytest.raises(ImportError), starting():
        raise ImportError
    assert gc.isenabled()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_starts_without_the_collector(name: str) -> None:
    function(name)
    assert gc.get_freeze_count() > 0


#: What few deliveries need: policies, batches, notifications, misfires, long waits, named secrets, and the
#: counts of a namespace's jobs.
_RARE = (
    "access.named_secrets",
    "jobs.quotas",
    "model.batch_progress",
    "model.policy",
    "model.timer",
    "ports.flow",
    "runs.batch_progress",
    "runs.notify",
    "runs.trigger_ranges",
    "wheel.arm",
    "wheel.catchup",
    "wheel.sending",
)

_RARE_IN_SWEEPS = ("model.run", "storage.runs")

_NOT_IN_AUTHORIZER = ("delivery.sqs_queue", "model.job", "schedules.series")


def test_the_delivery_function_starts_without_what_few_deliveries_need() -> None:
    imported = modules_of("deliver")
    assert [each for each in _RARE if f"sweephand.{each}" in imported] == []


def test_tick_and_sweep_start_without_the_records_of_runs_which_few_sweeps_write() -> None:
    imported = modules_of("tick")
    assert [each for each in _RARE_IN_SWEEPS if f"sweephand.{each}" in imported] == []


def test_the_authorizer_for_which_a_caller_waits_starts_without_jobs_and_queues() -> None:
    imported = modules_of("authorizer")
    assert [each for each in _NOT_IN_AUTHORIZER if f"sweephand.{each}" in imported] == []


@pytest.mark.parametrize("module", [*_RARE, *_RARE_IN_SWEEPS, *_NOT_IN_AUTHORIZER])
def test_what_few_deliveries_need_exists(module: str) -> None:
    """Otherwise the test above would pass for a module that was renamed."""
    assert find_spec(f"sweephand.{module}") is not None


#: Importing a module takes 0.1 ms of CPU, and each of its classes 0.1 to 1 ms. `python -m infra.bench start`
#: measures the whole start against its bound. Trace contexts are one module, for fields of jobs and triggers.
#: So are windows, after which each delivery asks.
#: The orders to end a pause and to follow a calendar are two, as kinds of messages. The rule of days that a
#: series carries is one. The flow function makes jobs follow a calendar, and starts without what that needs.
#: The format that targets of AWS share is a module, too, and so is an attempt that failed.
@pytest.mark.parametrize(
    ("function", "modules_max"), [("deliver", 131), ("tick", 97), ("authorizer", 33), ("flow", 163)]
)
def test_a_function_imports_no_more_modules_at_its_start_than_its_bound_allows(
    function: str, modules_max: int
) -> None:
    own = [each for each in modules_of(function) if each.partition(".")[0] == "sweephand"]
    assert len(own) <= modules_max, "import what most calls do not need when it is first needed"


@cache
def modules_of(function: str) -> frozenset[str]:
    """What a process has imported after the start of that function."""
    path = [str(FOLDER / function), *sys.path]
    program = f"import sys; sys.path[:0] = {path!r}; import handler; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    return frozenset(done.stdout.split())
