"""The checks of a stack: each shows whether a sentence about the stack is true. And how results are shown."""

import textwrap
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from infra.smoke.stage import Stage

Verdict = Literal["passed", "failed", "not shown"]

_NOTE_WIDTH = 100


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

    def named(self, *names: str) -> Sequence[Check]:
        """The checks of these names. Each is there."""
        found = {check.name: check for check in self.checks}
        return [found[name] for name in names]


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


def row(result: Result) -> str:
    """One result as lines of the table: verdict, seconds and name, and below them what was seen."""
    head = f"{result.verdict:<10} {result.seconds:6.1f} s  {result.name:<28} {result.sentence}"
    note = textwrap.wrap(result.note, _NOTE_WIDTH) if result.note else []
    return "\n".join([head, *(f"{'':23}{line}" for line in note)])


def summary(results: Sequence[Result]) -> str:
    """How many of each verdict, and the names of those that failed."""
    counts = Counter(result.verdict for result in results)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("passed", "failed", "not shown"))
    failed = [result.name for result in results if result.verdict == "failed"]
    return f"{told}: {', '.join(failed)}" if failed else told


def exit_code(results: Sequence[Result], left: Sequence[str]) -> int:
    """The exit code: 0 if no check failed and everything was removed, otherwise 1."""
    return int(bool(left) or any(result.verdict == "failed" for result in results))
