"""The distribution installs by itself, needs what it says it needs, and is the same however it is built."""

import ast
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Iterable, Iterator, Sequence
from email.parser import Parser
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest
from infra.dist import pack
from infra.local.places import ROOT
from packaging.requirements import Requirement

from sweephand import __version__

CLIENT: Final = ROOT / "client" / "sweephand_client"
DEPLOY: Final = ROOT / "client" / "sweephand_deploy"
ENGINE: Final = ROOT / "client" / "sweephand_engine"
PACKAGE: Final = ROOT / "layers" / "sweephand" / "python" / "sweephand"

#: The distributions that another one brings along, because its callers use them too.
BROUGHT_ALONG: Final = {"botocore": "boto3", "pydantic-core": "pydantic", "typing-extensions": "pydantic"}

#: What only the users of a framework import, who have it.
OF_FRAMEWORKS: Final = {CLIENT / "receive" / f"{name}.py" for name in ("django", "flask", "starlette")}

#: What only tests of consumers run.
OF_TESTS: Final = {*(ENGINE / "testing").rglob("*.py"), ENGINE / "pytest_plugin.py"}


def run(home: Path, *words: str | Path) -> str:
    """What a program prints that has to succeed. It sees nothing of this environment but a home folder."""
    done = subprocess.run(  # noqa: S603 - programs of this environment
        [*map(str, words)], cwd=home, env={"HOME": str(home)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the source distribution, built without any network."""
    folder = tmp_path_factory.mktemp("dist")
    pack(folder)
    return folder


@pytest.fixture(scope="module")
def wheel(packed: Path) -> Path:
    (found,) = packed.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def requirements(wheel: Path) -> Sequence[Requirement]:
    """The dependencies that the wheel asks for."""
    with ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    return [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]


def asked(requirements: Sequence[Requirement], extra: str) -> set[str]:
    """The names that an extra asks for; the base has the name ""."""
    return {
        each.name
        for each in requirements
        if (each.marker is None and extra == "")
        or (each.marker is not None and each.marker.evaluate({"extra": extra}))
    }


def files(folder: Path, below: Path) -> set[str]:
    """The files of a folder, as paths below another one."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(below).as_posix() for path in paths}


def test_the_wheel_has_its_packages_and_what_a_stack_is_built_from_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = {each for each in archive.namelist() if ".dist-info/" not in each}

    packages = {name for folder in (CLIENT, DEPLOY, ENGINE, PACKAGE) for name in files(folder, folder.parent)}
    parts = {"template.yaml", "layers/sweephand/Makefile"}
    parts |= files(ROOT / "functions", ROOT) | files(ROOT / "layers" / "dependencies", ROOT)
    assert names == packages | {f"sweephand_deploy/stack/{part}" for part in parts}


def test_the_source_distribution_makes_the_same_wheel(packed: Path, wheel: Path, tmp_path: Path) -> None:
    (source,) = packed.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (unpacked,) = (tmp_path / "source").iterdir()
    pack(tmp_path / "again", unpacked)

    assert (tmp_path / "again" / wheel.name).read_bytes() == wheel.read_bytes()
    assert (tmp_path / "again" / source.name).read_bytes() == source.read_bytes()


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
    names = "sweephand, sweephand_client, sweephand_client.receive.aws_lambda"
    names += ", sweephand_deploy.destroy, sweephand_engine.dev"
    modules = f"import sys, {names}; print(*(sys.modules[each].__file__ for each in {names.split(', ')}))"
    assert all(each.startswith(str(home)) for each in run(tmp_path, python, "-c", modules).split())


def test_the_locked_versions_are_among_those_that_the_wheel_asks_for(
    requirements: Sequence[Requirement],
) -> None:
    assert len(requirements) > 10
    for each in requirements:
        assert each.specifier.contains(version(each.name)), each


def test_the_base_asks_for_each_package_that_the_client_imports(requirements: Sequence[Requirement]) -> None:
    assert set(imported({*CLIENT.rglob("*.py")} - OF_FRAMEWORKS)) == asked(requirements, "")
    assert set(imported(OF_FRAMEWORKS)) == {"django", "flask", "starlette"}
    for extra, package in (("iam", "botocore"), ("receive", "pynacl")):
        assert asked(requirements, extra) == {package}, "it is imported only where it is asked for"


def test_the_extra_of_what_deploys_asks_for_each_other_package_that_it_imports(
    requirements: Sequence[Requirement],
) -> None:
    needed = {BROUGHT_ALONG.get(each, each) for each in imported(DEPLOY.rglob("*.py"))}
    assert needed - asked(requirements, "") == asked(requirements, "deploy")


def test_the_extra_of_the_engine_asks_for_each_other_package_that_it_imports(
    requirements: Sequence[Requirement],
) -> None:
    modules = {*ENGINE.rglob("*.py"), *PACKAGE.rglob("*.py")} - OF_TESTS
    needed = {BROUGHT_ALONG.get(each, each) for each in imported(modules)}
    assert needed - asked(requirements, "") == asked(requirements, "dev")


def test_the_extra_of_tests_asks_for_each_other_package_that_they_import(
    requirements: Sequence[Requirement],
) -> None:
    needed = {BROUGHT_ALONG.get(each, each) for each in imported(OF_TESTS)}
    others = asked(requirements, "dev")
    assert needed - asked(requirements, "") - others == asked(requirements, "testing") - others


@pytest.mark.parametrize("folder", [CLIENT, DEPLOY, ENGINE], ids=lambda path: path.name)
def test_a_module_has_at_most_400_lines(folder: Path) -> None:
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in folder.rglob("*.py")}
    assert {path: count for path, count in lines.items() if count > 400} == {}


def imported(paths: Iterable[Path]) -> Iterator[str]:
    """The distribution of each module that files of the wheel import, beside its own and Python's."""
    distributions = packages_distributions()
    known = {CLIENT.name, DEPLOY.name, ENGINE.name, PACKAGE.name, *sys.stdlib_module_names}
    for path in paths:
        for name in modules_of(ast.parse(path.read_text("utf-8"))):
            if name not in known:
                yield distributions[name][0].lower().replace("_", "-")


def modules_of(node: ast.AST) -> Iterator[str]:
    """The top-level name of each module that is imported, but for those that only a type checker imports."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Import():
            yield from (each.name.partition(".")[0] for each in node.names)
        case ast.ImportFrom(module=str(name)):
            yield name.partition(".")[0]
        case _:
            for each in ast.iter_child_nodes(node):
                yield from modules_of(each)
