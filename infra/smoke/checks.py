"""The checks of a stack: each has a name and a sentence about the stack, and shows whether it is true."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from infra.smoke.stage import Stage

Verdict = Literal["passed", "failed", "not shown"]


class CheckFailedError(Exception):
    """The sentence of a check is not true of this stack. The message says what the check saw instead."""


class NotShownError(Exception):
    """This run cannot show whether the sentence of a check is true. The message says what it lacks."""


@dataclass(frozen=True)
class Check:
    """A sentence about a stack. `run` returns what it saw, and raises if the sentence is not true.

    `not_local` says why a local AWS cannot show it; None if it can.
    """

    name: str
    sentence: str
    run: Callable[[Stage], str]
    not_local: str | None = None


@dataclass(frozen=True)
class Result:
    """The result of a check. `note` says what the check saw, or why it did not run."""

    name: str
    sentence: str
    verdict: Verdict
    note: str
    seconds: float


class Suite:
    """Checks that run in the order in which they were added."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def add(
        self, sentence: str, *, not_local: str | None = None
    ) -> Callable[[Callable[[Stage], str]], Callable[[Stage], str]]:
        """Decorate a function to make it a check with the function's name."""

        def added(run: Callable[[Stage], str]) -> Callable[[Stage], str]:
            name = getattr(run, "__name__", "").replace("_", "-")
            self.checks.append(Check(name, sentence, run, not_local))
            return run

        return added


def expect(truth: object, seen: str) -> None:
    """Raise CheckFailedError with what was seen, unless the condition is true."""
    if not truth:
        raise CheckFailedError(seen)


def outcomes(checks: Iterable[Check], stage: Stage) -> Iterator[Result]:
    """The result of each check, as soon as it ends. An exception fails only its own check."""
    for check in checks:
        if stage.is_local and check.not_local is not None:
            yield Result(check.name, check.sentence, "not shown", check.not_local, 0.0)
            continue
        began = time.monotonic()
        verdict: Verdict = "passed"
        try:
            note = check.run(stage)
        except CheckFailedError as error:
            verdict, note = "failed", str(error)
        except NotShownError as error:
            verdict, note = "not shown", str(error)
        except Exception as error:  # noqa: BLE001 - any error that stops a check is its result
            where = traceback.extract_tb(error.__traceback__)[-1]
            verdict, note = "failed", f"{type(error).__name__} in {where.name}: {error}"
        yield Result(check.name, check.sentence, verdict, note, time.monotonic() - began)
