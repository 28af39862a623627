"""Requests that schemathesis makes from the OpenAPI document, and the comparison of each answer with it."""

import os
import re
import subprocess
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final, Literal, NamedTuple

import pytest
from infra.local.places import LOCAL

from sweephand.web.operations import OPERATIONS

SCHEMATHESIS: Final = LOCAL / "venvs" / "schemathesis" / "bin" / "schemathesis"
HERE: Final = Path(__file__).parent

#: `coverage` makes a case for each limit of each field. `fuzzing` draws cases, `stateful` draws sequences of
#: calls, and `examples` are those of the document.
Phase = Literal["coverage", "examples", "fuzzing", "stateful"]

#: schemathesis reads the document by this call before it begins, and does not repeat it.
_READ_BEFORE: Final = "GET /v1/openapi.json"

#: All operations that schemathesis can call.
DESCRIBED: Final = {f"{each.method} {each.path}" for each in OPERATIONS} - {_READ_BEFORE}

_PATIENCE_S: Final = 1_800

#: How long an answer may take. A cold function on busy cores has taken more than the default of 10 s.
_ANSWER_S: Final = 60


class Fuzzing(NamedTuple):
    """Which phases to run, and with how many examples of each operation.

    schemathesis writes into the namespace alone, and its files into the folder. It calls the given operations
    alone.
    """

    namespace: str
    folder: Path
    phases: tuple[Phase, ...]
    examples: int
    operations: AbstractSet[str] = DESCRIBED


class Fuzzed(NamedTuple):
    """How many cases were made, and which operations were called in each phase."""

    cases: int
    called: Mapping[str, AbstractSet[str]]

    @property
    def operations(self) -> AbstractSet[str]:
        """The operations that were called in any phase, of those that the document has."""
        # Each phase may also try methods that a path does not have.
        return set().union(*self.called.values()) & DESCRIBED


def fuzz(url: str, key: str, asked: Fuzzing) -> Fuzzed:
    """Make the cases, and send them to the API at the URL, with a key.

    AssertionError with all findings if an answer differs from the document.
    """
    if not SCHEMATHESIS.exists():
        pytest.skip("schemathesis is not installed: make setup")
    calls = asked.folder / "calls"
    told = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": str(HERE / "hooks.py"),
        "SWEEPHAND_FUZZED_NAMESPACE": asked.namespace,
        "SWEEPHAND_FUZZED_CALLS": str(calls),
    }
    command = [
        str(SCHEMATHESIS),
        f"--config-file={HERE / 'schemathesis.toml'}",
        "run",
        f"{url}/v1/openapi.json",
        f"--url={url}",
        f"--header=Authorization: Bearer {key}",
        f"--phases={','.join(asked.phases)}",
        f"--max-examples={asked.examples}",
        *(f"--include-name={each}" for each in sorted(asked.operations)),
        "--generation-deterministic",
        f"--request-timeout={_ANSWER_S}",
        "--workers=1",
        "--no-color",
    ]
    # schemathesis writes its findings into the folder in which it runs.
    ended = subprocess.run(  # noqa: S603 - the tests' own environment
        command, cwd=asked.folder, env=told, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    made = re.search(r"([0-9]+) generated", ended.stdout)
    assert made is not None, ended.stdout
    called: dict[str, set[str]] = {}
    for line in calls.read_text(encoding="utf-8").splitlines():
        phase, _, operation = line.partition("\t")
        called.setdefault(phase, set()).add(operation)
    return Fuzzed(int(made[1]), called)
