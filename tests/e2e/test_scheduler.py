"""A stack passes the tests of EventBridge Scheduler that others have."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from infra.local.client import Client
from tests.e2e.foreign_scheduler import SUITES, Suite, copy_of

from sweephand_client import eventbridge
from sweephand_client.profiles import Stack


@pytest.mark.parametrize("suite", SUITES, ids=lambda each: each.name)
def test_a_suite_of_eventbridge_scheduler_passes(client: Client, tmp_path: Path, suite: Suite) -> None:
    scheduler: Any = eventbridge.client(Stack(client.api_url, "the test", key=client.api_key))
    arn = scheduler.get_schedule_group(Name="default")["Arn"]
    copy_of(suite, tmp_path / "foreign_tests", arn)
    run = subprocess.run(  # noqa: S603 - this interpreter, and tests from locked releases
        [
            *(sys.executable, "-m", "pytest", "-q", "-rA", "-p", "tests.e2e.foreign_scheduler"),
            *("-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-c", os.devnull, "foreign_tests"),
        ],
        env=os.environ
        | {
            "ASKED_URL": client.api_url,
            "ASKED_KEY": client.api_key or "",
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", run.stdout, re.MULTILINE)
    failed = {name for outcome, name in outcomes if outcome != "PASSED"}
    assert failed == suite.refused.keys(), run.stdout[-6_000:]
    assert len(outcomes) == suite.cases, run.stdout[-6_000:]
