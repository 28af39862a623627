"""A process of `sweephand dev`, for measurements and end-to-end tests."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.local.client import Client
from infra.local.places import SOURCES, StackError, environment

#: The line of its output after which the process answers.
_READY = "Ctrl-C"

_EXPORT = re.compile(r"export (API|KEY|INBOX)=(\S+)")


@dataclass(frozen=True)
class Dev:
    """A running process. It was started at `began_at`, in epoch seconds, and has printed `lines`."""

    process: subprocess.Popen[str]
    client: Client
    inbox: str
    began_at: float
    lines: Sequence[str]


def command(*options: object, installed: Path | None = None) -> Sequence[str]:
    """The command line with these options: this repository's, or that of an installed program."""
    program = [sys.executable, "-m", "sweephand_client.commands.main"] if installed is None else [installed]
    return [*map(str, (*program, "dev", *options))]


def own_environment(installed: Path | None = None) -> dict[str, str]:
    """The environment of that command line. Only this repository's finds the modules of this repository."""
    if installed is not None:
        return environment()
    return environment() | {"PYTHONPATH": SOURCES}


@contextmanager
def running(
    store: Path | None = None, *, run_by: Sequence[str] = (), installed: Path | None = None
) -> Iterator[Dev]:
    """A process that answers, on any free port. It is ended with the context, unless it has ended before.

    `run_by` are the words of a command that runs the one that follows. `installed` is the program `sweephand`
    of a wheel that runs instead of this repository's. StackError with its output if it does not answer.
    """
    options = ["--port", 0, *([] if store is None else ["--store", store])]
    began_at = time.time()
    process = subprocess.Popen(
        [*run_by, *command(*options, installed=installed)],
        env=own_environment(installed),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None, "it was asked for"
    reader: threading.Thread | None = None
    try:
        told: dict[str, str] = {}
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            told |= dict(_EXPORT.findall(line))
            if line.startswith(_READY):
                break
        else:
            raise StackError("".join(lines))
        # A pipe that nobody reads would stop the process some day.
        reader = threading.Thread(target=lines.extend, args=(process.stdout,))
        reader.start()
        with Client(told["API"], told["KEY"]) as client:
            yield Dev(process, client, told["INBOX"], began_at, lines)
    finally:
        process.terminate()
        process.wait()
        if reader is not None:
            reader.join()
        process.stdout.close()
