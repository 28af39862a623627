"""What a check is: a name, a sentence that it shows to be true or false, and what came of it."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from infra.smoke.stage import Stage

Verdict = Literal["passed", "failed", "not shown"]


class CheckFailedError(Exception):
    """The sentence of a check is not true of this stack; the message says what was seen instead."""


@dataclass(frozen=True)
class Check:
    """A sentence about a stack. `run` returns what was seen, and raises where the sentence is not true.

    `not_local` says why a local AWS cannot show it; None where it can.
    """

    name: str
    sentence: str
    run: Callable[[Stage], str]
    not_local: str | None = None


@dataclass(frozen=True)
class Result:
    """What came of a check; `note` is what was seen, or why it was not shown."""

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
        """Decorate a function to make it a check, which is named after it."""

        def added(run: Callable[[Stage], str]) -> Callable[[Stage], str]:
            name = getattr(run, "__name__", "").replace("_", "-")
            self.checks.append(Check(name, sentence, run, not_local))
            return run

        return added


def expect(truth: object, seen: str) -> None:
    """Raise CheckFailedError with what was seen, unless it is true."""
    if not truth:
        raise CheckFailedError(seen)


def outcomes(checks: Iterable[Check], stage: Stage) -> Iterator[Result]:
    """The result of each check, as soon as it is over. An exception fails its own check only."""
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
        except Exception as error:  # noqa: BLE001 - whatever stops a check is its result
            where = traceback.extract_tb(error.__traceback__)[-1]
            verdict, note = "failed", f"{type(error).__name__} in {where.name}: {error}"
        yield Result(check.name, check.sentence, verdict, note, time.monotonic() - began)
