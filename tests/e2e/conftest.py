"""A deployed stack for the end-to-end tests, and a consumer that its triggers are delivered to.

    SWEEPHAND_STACK=.local/stack.json pytest tests/e2e

runs them on a stack that is up already; else they deploy one of their own on a free port, and end it.
The outage is of a stack of its own in either case.
"""

import itertools
import json
import os
import shutil
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from infra.local import stack as local
from infra.local.client import Client
from infra.local.deploy import session
from infra.local.places import MINISTACK_PYTHON, Place, free_port
from tests.e2e.logs import latest
from tests.e2e.outage import Outage
from tests.e2e.outage import outage as begun_outage
from tests.e2e.scene import Scene
from tests.e2e.schedule import Schedule
from tests.e2e.wheel import FAR_S, empty_wheel, timer_keys
from tests.fakes.receiver import Answer, Receiver

from sweephand.base.instants import rfc3339

_numbers = itertools.count(1)

#: The stacks that several modules use.
_stacks = ExitStack()


#: If several processes run the tests, one process runs these modules on a stack, and another one runs the
#: others on a second stack. Some of these wait for what takes minutes, and the rest fill that time.
_PATIENT = frozenset(
    {
        "test_command_line",
        "test_delivery",
        "test_described",
        "test_outage",
        "test_payload_table",
        "test_runs",
        "test_worker",
    }
)


#: These run `sweephand dev` and need no deployed stack, so a third process runs them.
_IN_ONE_PROCESS = frozenset({"test_dev", "test_dev_policies", "test_on_dev", "test_wheel"})


#: Of the stack's log, in the report of a failed test.
_LINES_SHOWN = 150


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder is an end-to-end one. Those of a group run in one process, on one stack.

    The patient modules come after the others, and what they have begun is waited for last of all.
    """
    own = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    for item in own:
        item.add_marker(pytest.mark.e2e)
        item.add_marker(pytest.mark.xdist_group(_group_of(item.path.stem)))
    own.sort(key=lambda item: (item.path.stem in _PATIENT, item.get_closest_marker("comes_last") is not None))
    items[:] = [item for item in items if item not in own] + own


def _group_of(module: str) -> str:
    """The group whose tests run in one process."""
    if module in _IN_ONE_PROCESS:
        return "in_one_process"
    return "patient" if module in _PATIENT else "brisk"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failed test what the functions of its stack have logged since it began."""
    report = yield
    stack = getattr(item, "funcargs", {}).get("stack")
    if report.when == "call" and report.failed and stack is not None:
        with suppress(Exception):  # else the report would tell of this error in the place of the test's
            report.sections.append(("Log of the stack", latest(stack, int(call.start * 1_000), _LINES_SHOWN)))
    return report


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the stacks of this process after its last end-to-end test: other tests need the CPU that they use.

    pytest-xdist gives a process all of its groups before single tests. Without pytest-xdist, end-to-end tests
    come last of all.
    """
    is_last = nextitem is None or nextitem.get_closest_marker("e2e") is None
    if is_last and hasattr(item.config, "workerinput"):
        _stacks.close()


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Mapping[str, Any]]:
    """What `.local/stack.json` says of the stack that the tests run on."""
    described = os.environ.get("SWEEPHAND_STACK")
    if described:
        yield json.loads(Path(described).read_text(encoding="utf-8"))
        return
    yield _stacks.enter_context(_running(request))
    _stacks.close()


@pytest.fixture(scope="session")
def client(stack: Mapping[str, Any]) -> Iterator[Client]:
    """The API, called with the stack's admin key."""
    with Client.of(stack) as client:
        yield client


@pytest.fixture
def namespace() -> str:
    """A namespace of the test's own, so that tests do not see each other's jobs."""
    return f"test-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def receiver(client: Client, namespace: str) -> Iterator[Receiver]:
    """The consumer of the test's own namespace."""
    with Scene.of(client, namespace) as scene:
        yield scene.receiver


@pytest.fixture
def schedule(client: Client, namespace: str) -> Schedule:
    """The jobs of the test's own namespace."""
    return Schedule(client, namespace)


@pytest.fixture
def letters(stack: Mapping[str, Any], namespace: str) -> str:
    """The URL of a queue for the dead letters of a job."""
    sqs = session().client("sqs", endpoint_url=stack["awsEndpointUrl"])
    url: str = sqs.create_queue(QueueName=f"sweephand-{namespace}")["QueueUrl"]
    return url


@pytest.fixture(scope="module")
def scene(client: Client) -> Iterator[Scene]:
    """A consumer and jobs that all tests of a module look at, each at what is its own."""
    with Scene.of(client, f"test-{os.getpid()}-{next(_numbers)}") as scene:
        yield scene


@pytest.fixture(autouse=True)
def begun(request: pytest.FixtureRequest) -> None:
    """Begin what takes minutes, as far as a chosen test waits for it, before the first patient test.

    If something cannot be begun, only the tests that wait for it fail: pytest keeps the error of a fixture.
    """
    if request.path.stem not in _PATIENT:
        return
    awaited = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    # A rebuild sends again what a sweeper has sent, which is three minutes before the far job is due.
    for name in ("outage", "far", "rebuilt", "silent", "watched"):
        if name in awaited:
            with suppress(Exception, pytest.skip.Exception):
                request.getfixturevalue(name)


@pytest.fixture(scope="session")
def outage(request: pytest.FixtureRequest) -> Iterator[Outage]:
    """A stack of its own, which stands still from now on."""
    place = _stacks.enter_context(_place(request))
    yield _stacks.enter_context(begun_outage(place))
    _stacks.close()


@pytest.fixture(scope="session")
def far(client: Client, stack: Mapping[str, Any]) -> Iterator[Receiver]:
    """The consumer of a job that only timer, tick and sweep can deliver."""
    with Scene.of(client, f"far-{os.getpid()}") as scene:
        scene.schedule.put("far", dueTime=f"{FAR_S}s", target=scene.target("far"))
        key = f"{scene.schedule.namespace}/far#"
        assert any(key in each for each in timer_keys(stack)), "no timer was written for it"
        yield scene.receiver


@pytest.fixture(scope="session")
def silent(client: Client) -> Iterator[Receiver]:
    """A consumer that accepts a trigger and is never heard of again."""
    with Scene.of(client, f"silent-{os.getpid()}") as scene:
        scene.receiver.answer("/silent", Answer(202))
        scene.schedule.put(
            "silent",
            dueTime="1s",
            completion="async",
            heartbeatTimeout="1s",
            retry={"initialDelay": "0s"},
            target=scene.target("silent"),
        )
        scene.receiver.wait("/silent", 1, within_s=90)
        yield scene.receiver


@pytest.fixture(scope="session")
def watched(client: Client) -> Iterator[Receiver]:
    """The receiver of the alerts of two jobs: one fails, and one succeeds."""
    with Scene.of(client, f"watched-{os.getpid()}") as scene:
        scene.receiver.answer("/failing", Answer(422))
        for name in ("failing", "working"):
            alert = scene.target("alerts")
            scene.schedule.put(name, dueTime="1s", target=scene.target(name), alertAfter="60s", onAlert=alert)
            scene.receiver.wait(f"/{name}", 1, within_s=90)
        yield scene.receiver


@pytest.fixture(scope="session")
def rebuilt(client: Client, stack: Mapping[str, Any]) -> Iterator[Receiver]:
    """The consumer of a job whose timer was lost with the whole Timers table, which was then rebuilt.

    The timer of the far job was lost as well.
    """
    with Scene.of(client, f"lost-{os.getpid()}") as scene:
        scene.schedule.put("lost", dueTime=f"{FAR_S}s", target=scene.target("lost"))
        since = rfc3339(time.time_ns() // 1_000_000)
        key = next(each for each in timer_keys(stack) if f"{scene.schedule.namespace}/lost#" in each)
        assert key not in empty_wheel(stack), "its timer was not removed"
        told = client.ask("POST", "/v1/rebuild", {"since": since})
        assert (told["failed"], "nextCursor" in told) == ([], False)
        assert key in timer_keys(stack), "its timer was not written again"
        yield scene.receiver


@contextmanager
def _running(request: pytest.FixtureRequest) -> Iterator[Mapping[str, Any]]:
    """A stack of the tests' own."""
    with _place(request) as place:
        try:
            yield local.up(place, say=lambda _: None)
        finally:
            local.down(place)


@contextmanager
def _place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Where a stack of the tests' own can be. If a test fails its files are kept: its log may say why."""
    if not MINISTACK_PYTHON.exists():
        pytest.skip("ministack is not installed: make setup")
    place = Place(free_port())
    yield place
    if not request.session.testsfailed:
        shutil.rmtree(place.home, ignore_errors=True)
