"""`sweephand dev` as a process: what it prints, what outlives it, and how it ends."""

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from infra.bench.dev import Writer, names_of
from infra.local.dev import Dev, command, own_environment, running

JOBS = "/v1/namespaces/demo/jobs"

#: What it prints between the lines to paste.
PROSE = re.compile(r"(Sweephand|Then|The|Every|Ctrl-C) ")

#: How long a busy machine may take for what an idle one does in a second.
PATIENCE_S = 120


def within(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it does not hold"
        time.sleep(0.02)


def limited(kb: int) -> Sequence[str]:
    """The words of a command that limits the size of files: a write fails then as on a full disk."""
    return ("bash", "-c", f'ulimit -f {kb}; exec "$@"', "_")


def refused(*options: object, run_by: Sequence[str] = ()) -> tuple[int, str]:
    """The exit code and the words of a process that does not start."""
    done = subprocess.run(  # noqa: S603 - our own command
        [*run_by, *command(*options)],
        env=own_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def to_inbox(dev: Dev, path: str) -> dict[str, str]:
    return {"type": "http", "url": f"{dev.inbox}/{path}"}


def pasted(dev: Dev) -> str:
    """What the lines show that it prints for pasting."""
    script = "".join(line for line in dev.lines if not PROSE.match(line))
    return subprocess.run(  # noqa: S603 - our own lines
        ["bash", "-euc", script],  # noqa: S607 - the shell of the machine
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    ).stdout


def test_the_lines_that_it_prints_deliver_a_job_and_show_it() -> None:
    with running() as dev:
        shown = pasted(dev)
        dev.process.send_signal(signal.SIGINT)
        assert dev.process.wait(PATIENCE_S) == 0

    assert '/inbox/hello  {"hello":"world"}' in shown


def test_other_commands_find_it_on_any_port_as_long_as_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEEPHAND_CONFIG", str(tmp_path / "config"))
    for name in ("SWEEPHAND_URL", "SWEEPHAND_KEY", "SWEEPHAND_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    program = [sys.executable, "-m", "sweephand_client.commands.main", "status"]

    def status() -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own command
            program, env=own_environment(), cwd=tmp_path, capture_output=True, text=True, check=False
        )

    with running() as dev:
        found = status()
        assert found.returncode == 0, found.stderr
        assert f"The stack is {dev.client.api_url}, by sweephand dev." in found.stderr
    ended = status()
    assert (ended.returncode, "No stack is known" in ended.stderr) == (2, True)


def test_a_second_start_finds_its_state(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with running(store) as dev:
        key = dev.client.api_key
        dev.client.ask("PUT", f"{JOBS}/nightly", {"schedule": "0 3 * * *", "target": to_inbox(dev, "x")})
    with running(store) as dev:
        assert dev.client.api_key == key
        assert dev.client.ask("GET", f"{JOBS}/nightly")["schedule"] == "0 3 * * *"
        dev.client.ask("PUT", f"{JOBS}/now", {"dueTime": "0s", "target": to_inbox(dev, "now")})
        within(lambda: "/inbox/now" in dev.client.call("GET", "/inbox").body)


def _have_written(writers: Iterable[Writer]) -> bool:
    return all(len(each.acknowledged) >= 5 for each in writers)


def test_a_process_that_is_killed_under_load_loses_no_acknowledged_job(tmp_path: Path) -> None:
    store, written = tmp_path / "store", set[str]()
    for kill in range(3):
        with running(store) as dev:
            writers = [Writer(dev.client, f"k{kill}-{number}") for number in range(4)]
            within(partial(_have_written, writers))
            dev.process.kill()
            for each in writers:
                each.join()
                written |= each.acknowledged
    with running(store) as dev:
        assert written <= set(names_of(dev.client))


def test_a_job_that_was_due_while_nothing_ran_is_delivered_at_the_next_start(tmp_path: Path) -> None:
    store = tmp_path / "store"
    topic = {"type": "sns", "topicArn": "arn:aws:sns:eu-west-1:123456789012:orders"}
    with running(store) as dev:
        dev.client.ask("PUT", f"{JOBS}/missed", {"dueTime": "2s", "target": topic})
        due_at = time.time() + 2
        dev.process.kill()
    within(lambda: time.time() > due_at)
    with running(store) as dev:
        within(lambda: "missed" in dev.client.call("GET", "/inbox").body)


def test_it_ends_when_nobody_reads_what_it_prints() -> None:
    read, write = os.pipe()
    os.close(read)
    started = command("--port", 0)
    with closing(os.fdopen(write)):
        done = subprocess.run(started, env=own_environment(), stdout=write, check=False, timeout=PATIENCE_S)  # noqa: S603 - our own command
    assert done.returncode == 0


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert refused("--port", port, "--store", tmp_path / "store") == (
            2,
            f"Port {port} of 127.0.0.1 is in use: give another one with --port, or end that program.\n",
        )
    assert not (tmp_path / "store").exists()


def test_a_store_of_a_newer_version_is_told(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with running(store):
        pass
    with closing(sqlite3.connect(store)) as database:
        database.execute("PRAGMA user_version = 99")
    code, words = refused("--port", 0, "--store", store)
    assert (code, words.count("\n")) == (2, 1)
    assert "was written by a newer version of Sweephand" in words


def test_a_full_disk_ends_it_with_a_sentence(tmp_path: Path) -> None:
    with running(tmp_path / "store", run_by=limited(400)) as dev:
        Writer(dev.client, "job").join()
        assert dev.process.wait(PATIENCE_S) == 3
    *others, sentence = dev.lines
    assert sentence.startswith(f"The store {tmp_path / 'store'} cannot be used")
    assert "free some space, or name a file on another disk." in sentence
    assert others[-1].startswith("Ctrl-C"), "that is all it prints"


@pytest.mark.parametrize(("kb", "code"), [(8, 2), (40, 3)], ids=["at once", "while it starts"])
def test_it_does_not_start_on_a_full_disk(tmp_path: Path, kb: int, code: int) -> None:
    store = tmp_path / "store"
    found, words = refused("--port", 0, "--store", store, run_by=limited(kb))
    assert (found, words.count("\n")) == (code, 1), words
    assert words.startswith(f"The store {store} cannot be used")
    assert words.endswith("free some space, or name a file on another disk.\n")
