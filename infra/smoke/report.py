"""The results as a table for a person, and as JSON for a program."""

import json
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from infra.smoke.checks import Result

_NOTE_WIDTH = 100


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


def as_json(stack: str, results: Sequence[Result], left: Sequence[str]) -> str:
    """All results, and what could not be removed, as JSON."""
    whole = {
        "stack": stack,
        "results": [{**asdict(each), "seconds": round(each.seconds, 1)} for each in results],
        "notRemoved": list(left),
    }
    return json.dumps(whole, indent=2) + "\n"


def exit_code(results: Sequence[Result], left: Sequence[str]) -> int:
    """The exit code: 0 if no check failed and everything was removed, otherwise 1."""
    return int(bool(left) or any(result.verdict == "failed" for result in results))
