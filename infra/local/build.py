"""When `sam build` has to run again: when the content of a file that it reads has changed."""

import fcntl
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from infra.local.places import BUILD, LOCAL, PYTHON, ROOT, SAM, environment

_MARK = LOCAL / "build.sha256"


class CannotBuildError(Exception):
    """`sam build` failed. The message is its output."""


class Built(NamedTuple):
    """A built template, and the digest of the content that it was built from."""

    template: Path
    digest: str


def build() -> Built:
    """The output of `sam build`. It runs only if the sources have changed since the last build.

    Only one build runs at a time. The layers are built for this machine's interpreter, which runs the
    functions locally.
    """
    LOCAL.mkdir(exist_ok=True)
    with (LOCAL / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        template = BUILD / "template.yaml"
        digest = _digest()
        if template.exists() and _MARK.exists() and _MARK.read_text(encoding="utf-8") == digest:
            return Built(template, digest)
        _MARK.unlink(missing_ok=True)
        done = subprocess.run(
            [
                SAM,
                "build",
                "--build-dir",
                BUILD,
                "--cached",
                "--cache-dir",
                LOCAL / f"build-{sys.version_info.minor}",
            ],
            cwd=ROOT,
            env=environment()
            | {"SAM_CLI_TELEMETRY": "0", "PYTHON": str(PYTHON), "LAMBDA_PLATFORM": "native"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise CannotBuildError(done.stdout + done.stderr)
        _MARK.write_text(digest, encoding="utf-8")
        return Built(template, digest)


def _digest() -> str:
    """The digest of every file that `sam build` reads, and of the interpreter that it builds for."""
    whole = hashlib.sha256(sys.version.encode())
    for path in _sources():
        whole.update(str(path.relative_to(ROOT)).encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def _sources() -> Iterator[Path]:
    yield ROOT / "template.yaml"
    yield ROOT / "samconfig.toml"
    for folder in ("functions", "layers"):
        yield from sorted(
            path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts
        )
