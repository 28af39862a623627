"""The client is a wheel of its own: it installs by itself, and needs what it says it needs."""

import ast
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest
from infra.local.places import ROOT
from packaging.requirements import Requirement

from sweephand import __version__

CLIENT: Final = ROOT / "client"
PACKAGE: Final = CLIENT / "sweephand_client"
MODULES: Final = sorted(PACKAGE.rglob("*.py"))

#: The module that each dependency is imported as, where its name differs.
IMPORTED_AS: Final = {"pyyaml": "yaml"}


def run(home: Path, *words: str | Path, cwd: Path | None = None) -> str:
    """What a program prints that has to succeed. It sees nothing of this environment but a home folder."""
    done = subprocess.run(  # noqa: S603 - programs of this environment
        [*map(str, words)],
        cwd=cwd or home,
        env={"HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the locked build backend without any network."""
    folder = tmp_path_factory.mktemp("wheel")
    run(folder, sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=CLIENT)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def requirements(wheel: Path) -> list[Requirement]:
    """The dependencies that the wheel asks for."""
    with ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    return [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]


def test_the_wheel_has_the_package_and_nothing_of_the_stack(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = {each for each in archive.namelist() if ".dist-info/" not in each}

    assert {str(each.relative_to(CLIENT)) for each in MODULES} <= names
    assert "sweephand_client/py.typed" in names
    assert {each.split("/")[0] for each in names} == {"sweephand_client"}


def test_the_wheel_installs_into_a_new_environment_and_runs_there(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    installer = (sys.executable, "-m", "uv", "pip", "install", "--offline", "--no-deps")
    run(tmp_path, *installer, "--python", python, wheel)
    # The dependencies lie in the locked environment of the tests. Nothing is downloaded.
    site = run(tmp_path, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(site) / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    assert run(tmp_path, home / "bin" / "sweephand", "--version") == f"sweephand {__version__}\n"
    place = run(tmp_path, python, "-c", "import sweephand_client; print(sweephand_client.__file__)")
    assert place.startswith(str(home))


def test_the_locked_versions_are_among_those_that_the_wheel_asks_for(requirements: list[Requirement]) -> None:
    assert requirements
    for each in requirements:
        assert each.specifier.contains(version(each.name)), each


def test_the_wheel_asks_for_each_package_that_it_imports(requirements: list[Requirement]) -> None:
    asked = {IMPORTED_AS.get(each.name, each.name) for each in requirements if each.marker is None}
    extra = {each.name for each in requirements if each.marker is not None}

    assert set(imports()) - set(sys.stdlib_module_names) - {"sweephand_client"} == asked
    assert extra == {"botocore"}, "it is imported only where it is asked for"


def test_a_module_of_the_client_has_at_most_400_lines() -> None:
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {path: count for path, count in lines.items() if count > 400} == {}


def imports() -> Iterator[str]:
    """The top-level name of each module that the client imports."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (each.name.partition(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]
