"""The tasks of an operator are performed on `sweephand dev`, and a way that does not do its task is told."""

from collections.abc import Iterator

import pytest
from infra.local.dev import running
from infra.tasks.perform import NOW, NotDoneError, Stage
from infra.tasks.results import TASKS
from infra.tasks.scene import Consumer, Scene
from infra.tasks.steps import Click, Task, Where, clicks, shell
from playwright.sync_api import Browser

#: Nobody waits for what cannot be clicked.
PATIENCE_MS = 2_000


@pytest.fixture(scope="module")
def consumer() -> Iterator[Consumer]:
    with Consumer().listening() as consumer:
        yield consumer


@pytest.fixture(scope="module")
def stage(browser: Browser) -> Iterator[Stage]:
    with running() as dev:
        yield Stage(dev, browser, {True: NOW}, PATIENCE_MS)


def named(text: str) -> Task:
    """The only task whose name has this text."""
    (task,) = [each for each in TASKS if text in each.name]
    return task


def perform(stage: Stage, consumer: Consumer, task: Task, where: Where, namespace: str) -> None:
    scene = Scene(stage.dev.client, namespace, consumer)
    task.prepare(scene)
    stage.perform(task, (where, True), scene)


@pytest.mark.parametrize(
    ("name", "where"),
    [("one field", "commands"), ("last hour", "commands"), ("job now", "clicks"), ("fails", "clicks")],
)
def test_a_task_is_done_by_the_way_that_is_told(
    stage: Stage, consumer: Consumer, name: str, where: Where
) -> None:
    perform(stage, consumer, named(name), where, f"{where}-{name.replace(' ', '-')}")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("true",), "what the task is for does not hold"),
        (("sweephand job patch nobody --jitter 30s",), "ended with 4"),
    ],
    ids=["nothing", "refused"],
)
def test_lines_that_do_not_do_their_task_are_told(
    stage: Stage, consumer: Consumer, lines: tuple[str, ...], said: str
) -> None:
    task = named("one field")._replace(commands=shell(*lines))
    with pytest.raises(NotDoneError, match=said):
        perform(stage, consumer, task, "commands", "not-done")


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((), "'10s' is not shown"),
        ((Click("Jobs"), Click("nobody")), r"name='nobody'\) cannot be made"),
    ],
    ids=["nothing", "nobody"],
)
def test_steps_that_do_not_do_their_task_are_told(
    stage: Stage, consumer: Consumer, steps: tuple[Click, ...], said: str
) -> None:
    task = named("who changed")._replace(clicks=clicks(*steps))
    with pytest.raises(NotDoneError, match=said):
        perform(stage, consumer, task, "clicks", "not-done")
