"""What arrives: requests to the consumer, and lines of workers."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import urllib3
from infra.shootout.sink import Sink
from infra.shootout.worker import RefusedError, arrive

_DUE = "2026-11-21T12:00:17.250Z"


def test_a_request_names_its_trigger_in_a_header_or_behind_the_url(tmp_path: Path) -> None:
    with Sink(tmp_path, {}) as sink, urllib3.PoolManager() as pool:
        pool.request("POST", sink.run.url, headers={"Sweephand-Job": "a", "Sweephand-Due": _DUE})
        pool.request("POST", f"{sink.run.url}b")
        came = sink.came()

    assert [(each.key, each.due_at) for each in came] == [("a", 1_795_262_417_250), ("b", None)]


def test_lines_of_workers_are_read_once_each_and_only_as_a_whole(tmp_path: Path) -> None:
    with Sink(tmp_path, {}) as sink:
        arrive(str(tmp_path), "a")
        assert [each.key for each in sink.came()] == ["a"]
        arrive(str(tmp_path), "b", 1_000)
        with (sink.run.arrivals / "killed").open("w") as file:
            file.write("c - 12")
        assert [(each.key, each.due_at) for each in sink.came()] == [("a", None), ("b", 1_000)]


def test_the_monotonic_clock_of_a_worker_becomes_epoch_time(tmp_path: Path) -> None:
    with Sink(tmp_path, {}) as sink:
        before = time.time_ns() // 1_000_000
        arrive(str(tmp_path), "a")
        after = time.time_ns() // 1_000_000
        (came,) = sink.came()

    assert before - 1 <= came.arrived_at <= after + 1


def test_a_worker_fails_and_the_consumer_answers_503_while_deliveries_are_refused(tmp_path: Path) -> None:
    with Sink(tmp_path, {}) as sink, urllib3.PoolManager() as pool:
        sink.refuse(refuses=True)
        assert pool.request("POST", f"{sink.run.url}a", retries=False).status == 503
        with pytest.raises(RefusedError):
            arrive(str(tmp_path), "a")
        assert sink.came() == []
        sink.refuse(refuses=False)
        assert pool.request("POST", f"{sink.run.url}a", retries=False).status == 200
        arrive(str(tmp_path), "b")
        assert [each.key for each in sink.came()] == ["a", "b"]


def test_a_worker_needs_no_package_of_this_repository() -> None:
    root = Path(__file__).parents[3]
    code = "import infra.shootout.worker, sys; sys.exit('sweephand' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env={}, check=False)  # noqa: S603 - ours
    assert done.returncode == 0
