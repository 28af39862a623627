"""The Makefiles of the layers compile for the Python version that Lambda runs, or fail.

The version of the interpreter that runs this test stands for Lambda's. tests/template/test_layers.py holds
that the Makefiles name the version of the template.
"""

import hashlib
import importlib.util
import marshal
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from infra.local.places import ROOT

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
UNCHECKED_HASH = b"\x01\x00\x00\x00"  # PEP 552
SOURCE = b"NAME = 'a'\n"
LAYERS = ("sweephand", "dependencies")
OTHER_VERSION = "#!/bin/sh\nexit 1\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder for the only interpreters that are on PATH."""
    (tmp_path / "bin").mkdir()
    for tool in ("make", "cp", "find", "rm"):
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path / "bin"


def script(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def tiny(layer: str, folder: Path) -> Path:
    """A layer with the Makefile of that layer and one module."""
    source = folder / layer
    (source / "python" / "tiny" / "__pycache__").mkdir(parents=True)
    (source / "python" / "tiny" / "module.py").write_bytes(SOURCE)
    (source / "python" / "tiny" / "__pycache__" / "old.pyc").write_bytes(b"made elsewhere")
    shutil.copy(ROOT / "layers" / layer / "Makefile", source)
    if layer == "dependencies":
        shutil.copy(ROOT / "layers" / layer / "prune.py", source)
        wheel = source / "tiny-1-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as packed:
            packed.writestr("tiny/module.py", SOURCE)
            packed.writestr("botocore/data/s3/service.json", "{}")
            packed.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
            packed.writestr(
                "tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            packed.writestr("tiny-1.dist-info/RECORD", "")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        requirements = f"--no-index\n--find-links {source}\ntiny==1 --hash=sha256:{digest}\n"
        (source / "requirements.txt").write_text(requirements, encoding="utf-8")
    return source


def build(
    layer: str, folder: Path, path: Path, python: Path, given: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    built = folder / "built"
    built.mkdir()
    return subprocess.run(  # noqa: S603 - the project's own Makefile
        [str(path / "make"), f"build-{layer.capitalize()}Layer"],
        cwd=tiny(layer, folder),
        env={
            "PATH": f"{path}:/bin",
            "ARTIFACTS_DIR": str(built),
            "LAMBDA_PYTHON": VERSION,
            "PYTHON": str(python),
            # Neither may change where the bytecode lies, or what it is.
            "PYTHONOPTIMIZE": "2",
            "PYTHONPYCACHEPREFIX": str(folder / "elsewhere"),
            **(given or {}),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def check_bytecode(folder: Path) -> None:
    """The one module has bytecode of this interpreter that Lambda loads without a look at the source."""
    assert not list((folder / "built").rglob("old.pyc"))
    cached = (
        folder / "built" / "python" / "tiny" / "__pycache__" / f"module.{sys.implementation.cache_tag}.pyc"
    )
    header, code = cached.read_bytes()[:16], cached.read_bytes()[16:]
    assert header == importlib.util.MAGIC_NUMBER + UNCHECKED_HASH + importlib.util.source_hash(SOURCE)
    assert marshal.loads(code).co_filename == "/opt/python/tiny/module.py"  # noqa: S302 - made just now


@pytest.mark.parametrize("platform", ["native", "manylinux2014_aarch64"])
@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_has_bytecode(tmp_path: Path, path: Path, layer: str, platform: str) -> None:
    done = build(layer, tmp_path, path, Path(sys.executable), {"LAMBDA_PLATFORM": platform})
    assert done.returncode == 0, done.stderr
    check_bytecode(tmp_path)


def test_an_interpreter_of_lambda_s_version_on_the_path_compiles_instead_of_another_one(
    tmp_path: Path, path: Path
) -> None:
    script(path / f"python{VERSION}", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    done = build("sweephand", tmp_path, path, script(tmp_path / "python3", OTHER_VERSION))
    assert done.returncode == 0, done.stderr
    check_bytecode(tmp_path)


def test_uv_brings_an_interpreter_where_there_is_none(tmp_path: Path, path: Path) -> None:
    asked = f"run --no-project --python {VERSION} python"
    script(path / f"python{VERSION}", OTHER_VERSION)
    script(
        path / "uv",
        f'#!/bin/sh\n[ "$1 $2 $3 $4 $5" = "{asked}" ] && shift 5 && exec "{sys.executable}" "$@"\n',
    )
    done = build("sweephand", tmp_path, path, script(tmp_path / "python3", OTHER_VERSION))
    assert done.returncode == 0, done.stderr
    check_bytecode(tmp_path)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_build_without_an_interpreter_of_lambda_s_version_fails_and_says_what_to_do(
    tmp_path: Path, path: Path, layer: str
) -> None:
    done = build(layer, tmp_path, path, Path(sys.executable), {"LAMBDA_PYTHON": "3.99"})
    assert done.returncode != 0
    assert "Only Python 3.99 can compile for Lambda." in done.stderr
    assert "sam build --use-container" in done.stderr
    assert not list((tmp_path / "built").iterdir())
