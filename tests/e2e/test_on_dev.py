"""The end-to-end tests of the API, the console and the command line, on a stack in one process.

They are the tests that the deployed stack passes. Those that look into tables, queues or logs of AWS are left
out, since there are none. A sample has a third of the modules, and other cases than on the deployed stack.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from infra.local.dev import running
from infra.local.places import ROOT

_MODULES: Final[tuple[str, ...]] = (
    "test_calendars.py",
    "test_command_line.py",
    "test_console.py",
    "test_delivery.py",
    "test_described.py",
    "test_policies.py",
    "test_receivers.py",
    "test_runs.py",
    "test_scheduler.py",
    "test_tenants.py",
    "test_texts.py",
    "test_worker.py",
)

#: What looks into AWS, in those modules.
_LEFT_OUT: Final = (
    "in_a_function",
    "moves_to_a_queue",
    "poison_message",
    "through_the_wheel",
    "timer_was_lost",
)


def test_both_kinds_of_stack_pass_the_same_tests(tmp_path: Path) -> None:
    described = tmp_path / "stack.json"
    variables, modules = {"SWEEPHAND_STACK": str(described)}, _MODULES
    if sample := os.environ.get("SWEEPHAND_SAMPLE"):
        variables["SWEEPHAND_SAMPLE"] = str(int(sample) + 1)
        modules = modules[int(sample) % 3 :: 3]
    options = ["-q", "-p", "no:cacheprovider", "-k", " and ".join(f"not {each}" for each in _LEFT_OUT)]
    with running() as dev:
        stack = {"apiUrl": dev.client.api_url, "apiKey": dev.client.api_key}
        described.write_text(json.dumps(stack), encoding="utf-8")
        run = subprocess.run(  # noqa: S603 - this interpreter, and our own tests
            [sys.executable, "-m", "pytest", *options, *(f"tests/e2e/{each}" for each in modules)],
            env=os.environ | variables,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 0, run.stdout[-6_000:]
    assert " passed" in run.stdout
    assert "skipped" not in run.stdout, run.stdout
