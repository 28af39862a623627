"""A stack answers EventBridge Scheduler's own clients."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from infra.local.client import Client
from infra.local.places import ROOT
from tests.e2e.moto_scheduler import REFUSED, copy_of_the_tests

from sweephand_client import eventbridge
from sweephand_client.profiles import Stack


def test_motos_tests_of_eventbridge_scheduler_pass(client: Client, tmp_path: Path) -> None:
    scheduler: Any = eventbridge.client(Stack(client.api_url, "the test", key=client.api_key))
    arn = scheduler.get_schedule_group(Name="default")["Arn"]
    copy_of_the_tests(ROOT / ".local" / "moto-tests", tmp_path, arn)
    run = subprocess.run(  # noqa: S603 - this interpreter, and moto's tests
        [
            *(sys.executable, "-m", "pytest", "-q", "-rA", "-p", "tests.e2e.moto_scheduler"),
            *(
                "-p",
                "no:cacheprovider",
                "--rootdir",
                str(tmp_path),
                "-c",
                os.devnull,
                str(tmp_path / "motos_tests"),
            ),
        ],
        env=os.environ
        | {
            "MOTO_STACK_URL": client.api_url,
            "MOTO_STACK_KEY": client.api_key or "",
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", run.stdout, re.MULTILINE)
    failed = {name for outcome, name in outcomes if outcome != "PASSED"}
    assert failed == set(REFUSED), run.stdout[-6_000:]
    assert len(outcomes) == 25, run.stdout[-6_000:]
