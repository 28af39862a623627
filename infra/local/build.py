"""Running SAM. `sam build` runs again when the content of a file that it reads has changed."""

import fcntl
import hashlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from infra.local.places import BUILD, LOCAL, PYTHON, ROOT, SAM, StackError, environment

_MARK = LOCAL / "build.sha256"


class Built(NamedTuple):
    """A built template, and the digest of the content that it was built from."""

    template: Path
    digest: str


def build() -> Built:
    """The output of `sam build`. It runs only if the sources have changed since the last build.

    Only one build runs at a time. The layers are built for this machine's interpreter, which runs the
    functions locally. Raises StackError.
    """
    LOCAL.mkdir(exist_ok=True)
    with (LOCAL / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        template = BUILD / "template.yaml"
        digest = _digest()
        if template.exists() and _MARK.exists() and _MARK.read_text(encoding="utf-8") == digest:
            return Built(template, digest)
        _MARK.unlink(missing_ok=True)
        cache = LOCAL / f"build-{sys.version_info.minor}"
        sam(
            ["build", "--build-dir", BUILD, "--cached", "--cache-dir", cache],
            environment() | {"SAM_CLI_TELEMETRY": "0", "PYTHON": str(PYTHON), "LAMBDA_PLATFORM": "native"},
        )
        _MARK.write_text(digest, encoding="utf-8")
        return Built(template, digest)


def sam(words: Sequence[str | Path], env: Mapping[str, str]) -> None:
    """Run SAM in the root of the checkout. Its output is in the StackError if it fails."""
    done = subprocess.run([SAM, *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StackError(f"sam {words[0]} failed\n{done.stdout}{done.stderr}")


def _digest() -> str:
    """The digest of every file that `sam build` reads, and of the interpreter that it builds for."""
    paths = [ROOT / "template.yaml", ROOT / "samconfig.toml"]
    for folder in ("functions", "layers"):
        found = (each for each in (ROOT / folder).rglob("*") if "__pycache__" not in each.parts)
        paths += sorted(each for each in found if each.is_file())
    whole = hashlib.sha256(sys.version.encode())
    for path in paths:
        whole.update(str(path.relative_to(ROOT)).encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
