"""Writes what a release consists of: wheel, source distribution, stack, bill of materials, and hashes of all.

    make dist

All files have the version of the package. The same source gives the same files.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from infra.local.places import LOCAL, ROOT, StackError

from sweephand_deploy.build import write_zip
from sweephand_deploy.deploy import package
from sweephand_deploy.errors import DeployError

#: The names and hashes of the other files, as `sha256sum --check` reads them.
SUMS: Final = "SHA256SUMS"

_DIST: Final = ROOT / "dist"
_CYCLONEDX: Final = LOCAL / "venvs" / "sbom" / "bin" / "cyclonedx-py"


def build(folder: Path) -> None:
    """Write the files of a release into an empty folder. DeployError if the stack cannot be built here."""
    pack(folder)
    (wheel,) = folder.glob("*.whl")
    name = "-".join(wheel.name.split("-")[:2])
    bill = folder / f"{name}-lambda.cdx.json"
    subprocess.run([ROOT / "requirements" / "sbom.sh", _CYCLONEDX, bill], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as stack:
        package(Path(stack))
        write_zip(sorted(Path(stack).iterdir()), Path(stack), folder / f"{name}-stack.zip")
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())
    ]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def pack(folder: Path, source: Path = ROOT) -> None:
    """Write the wheel and the source distribution of a checkout, or of an unpacked source distribution.

    StackError with the output of the build backend if it fails.
    """
    # The locked build backend. An isolated build would download another one.
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    done = subprocess.run(command, cwd=source, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise StackError(f"hatchling failed\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    shutil.rmtree(_DIST, ignore_errors=True)
    try:
        build(_DIST)
    except (DeployError, StackError) as error:
        shutil.rmtree(_DIST, ignore_errors=True)
        sys.exit(str(error))
    print((_DIST / SUMS).read_text(encoding="utf-8"), end="")
