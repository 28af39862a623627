"""Builds the code of a stack: a zip for each function and layer.

The Makefiles of the layers do the work, as they do for `sam build`. So no second program knows how a layer is
made. Layers in the wheel would take 13 MB for each version of Python. The same source gives the same zips.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from sweephand_deploy.errors import InputError
from sweephand_deploy.template import Template, code_folders

#: The template and what it names, in the wheel.
_PACKED: Final = Path(__file__).parent / "stack"

#: The package that the layer of this folder holds. The wheel has it once, since `sweephand dev` runs it too.
_PACKAGE_LAYER: Final = "layers/sweephand"
_PACKAGE: Final = "sweephand"

#: The first instant that a zip can name.
_ZIP_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_UNIX: Final = 3
_READABLE: Final = 0o100644 << 16


class Artifact(NamedTuple):
    """The zip of a function or layer. The name of its file has a digest of the content."""

    logical_id: str
    path: Path


def source() -> Path:
    """The folder of template.yaml, of the functions and of the layers: the wheel's, or that of a clone."""
    return _PACKED if _PACKED.exists() else Path(__file__).parents[2]


def build(template: Template, folder: Path) -> list[Artifact]:
    """Build each function and layer of the template, and write the zips into a folder. Raises InputError."""
    return [build_one(name, named, folder, {}) for name, named in code_folders(template).items()]


def build_one(name: str, named: str, folder: Path, settings: Mapping[str, str]) -> Artifact:
    """Build the function or layer of that name, whose code is in the folder `named` of the source.

    The Makefile of a layer reads the environment, and before it the settings. InputError with what it printed
    if it fails.
    """
    code = source() / named
    if not (code / "Makefile").exists():
        return Artifact(name, _zipped(code, folder, name))
    with tempfile.TemporaryDirectory() as work:
        return Artifact(name, _zipped(_made(name, named, Path(work), settings), folder, name))


def _made(name: str, named: str, work: Path, settings: Mapping[str, str]) -> Path:
    """The folder that the Makefile of a layer has filled. It sees a copy of the layer's files."""
    copied, built = work / "source", work / "built"
    copied.mkdir()
    built.mkdir()
    for path in (source() / named).iterdir():
        if path.is_file():
            shutil.copy(path, copied)
    if named == _PACKAGE_LAYER:
        shutil.copytree(_package(), copied / "python" / _PACKAGE)
    # An environment that uv has made has no pip.
    python = sys.executable if find_spec("pip") else "python3"
    # A make that runs this command has options of its own for the makes below it.
    of_make = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    own = {name: value for name, value in os.environ.items() if name not in of_make}
    given = {"PYTHON": python, **own, **settings, "ARTIFACTS_DIR": str(built)}
    try:
        done = subprocess.run(  # noqa: S603 - our own Makefile
            ["make", f"build-{name}"],  # noqa: S607 - the one of this machine
            cwd=copied,
            env=given,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise InputError("The layers are built by make, which is not installed. Install make.") from error
    if done.returncode != 0:
        raise InputError(f"{name} could not be built:\n{done.stdout}{done.stderr}".rstrip())
    return built


def _package() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise InputError("The package `sweephand` is not installed. Install the wheel again.")
    return Path(spec.origin).parent


def _zipped(code: Path, folder: Path, name: str) -> Path:
    """The zip of a folder. The name of its file has a digest."""
    written = folder / f"{name}.zip"
    write_zip(_files(code), code, written)
    digest = hashlib.sha256(written.read_bytes()).hexdigest()[:32]
    return written.rename(folder / f"{name}-{digest}.zip")


def write_zip(files: Iterable[Path], root: Path, written: Path) -> None:
    """Write the files below a root into a zip. It says neither times nor modes of files."""
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            info = zipfile.ZipInfo(path.relative_to(root).as_posix(), _ZIP_EPOCH)
            info.create_system, info.external_attr = _UNIX, _READABLE
            archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)


def _files(code: Path) -> Iterator[Path]:
    """All files of a folder but for the caches that running a function has made there."""
    is_layer = (code / "python").exists()
    for path in sorted(code.rglob("*")):
        if path.is_file() and (is_layer or "__pycache__" not in path.parts):
            yield path
