"""Builds the code of the local stack, as `sweephand deploy` does. Only what has changed is built again."""

import fcntl
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from infra.local.places import BUILD, LOCAL, PYTHON, ROOT, StackError

from sweephand_deploy.build import Artifact, build_one
from sweephand_deploy.errors import DeployError
from sweephand_deploy.template import code_folders, read_template

_TEMPLATE: Final = ROOT / "template.yaml"

#: The layers are built for this machine's interpreter, which runs the functions locally.
_SETTINGS: Final = {"PYTHON": str(PYTHON), "LAMBDA_PLATFORM": "native"}


class Built(NamedTuple):
    """The zip of each function and layer, and the digest of what they and the template were built from."""

    artifacts: Sequence[Artifact]
    digest: str


def build() -> Built:
    """The code of all functions and layers. Only one build runs at a time. Raises StackError."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (LOCAL / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folders = code_folders(read_template(_TEMPLATE))
        digests = {name: _digest(ROOT / named) for name, named in folders.items()}
        artifacts = [_kept(name, named, digests[name]) for name, named in folders.items()]
    whole = hashlib.sha256(_TEMPLATE.read_bytes())
    whole.update("".join(digests.values()).encode())
    return Built(artifacts, whole.hexdigest())


def _kept(name: str, named: str, digest: str) -> Artifact:
    """The zip of a function or layer. It is built unless the last build had the same source."""
    kept = BUILD / name / digest
    if not kept.exists():
        shutil.rmtree(kept.parent, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            try:
                build_one(name, named, Path(folder), _SETTINGS)
            except DeployError as error:
                raise StackError(str(error)) from error
            # A build that was interrupted leaves nothing under this name.
            shutil.copytree(folder, partial := kept.with_suffix(".part"))
        partial.rename(kept)
    [path] = kept.iterdir()
    return Artifact(name, path)


def _digest(folder: Path) -> str:
    """The digest of every file that a build reads, and of the interpreter that it builds for."""
    whole = hashlib.sha256(sys.version.encode())
    for path in sorted(each for each in folder.rglob("*") if "__pycache__" not in each.parts):
        if path.is_file():
            whole.update(str(path.relative_to(folder)).encode())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
