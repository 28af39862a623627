"""The wheel alone, in an environment of its own: what a user has who has no clone of the repository."""

import hashlib
import re
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from infra.dist import SUMS, build
from infra.local.dev import running
from infra.local.installed import Installed
from tests.e2e.test_dev import pasted
from tests.unit.docs.blocks import ROOT, blocks

from sweephand import __version__


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make dist` writes."""
    folder = tmp_path_factory.mktemp("release")
    with pytest.MonkeyPatch.context() as patch:
        # Only Python 3.13 builds what Lambda runs. This builds for the interpreter of the tests.
        patch.setenv("LAMBDA_PLATFORM", "native")
        build(folder)
    return folder


@pytest.fixture(scope="module")
def fresh(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with the wheel. Each test adds the extra that it needs."""
    (wheel,) = release.glob("*.whl")
    environment = Installed(tmp_path_factory.mktemp("fresh") / "environment")
    environment.install(str(wheel))
    return environment


def test_a_release_has_the_hash_of_each_file(release: Path) -> None:
    lines = (release / SUMS).read_text("utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = {each.name: each.read_bytes() for each in release.iterdir() if each.name != SUMS}
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    endings = ("-py3-none-any.whl", ".tar.gz", "-lambda.cdx.json", "-stack.zip")
    assert set(sums) == {f"sweephand-{__version__}{ending}" for ending in endings}


def test_the_wheel_without_an_extra_receives(fresh: Installed) -> None:
    lines = (
        "from sweephand_client.receive import Receiver, aws_lambda, stores",
        "stores.RedisStore(None), stores.DynamoStore(None, '')",
        "handler = aws_lambda.lambda_handler(Receiver(secrets='whsec_MDEyMw=='))",
        "print(handler({'requestContext': {}, 'headers': {}}, None)['body'])",
        "print(Receiver(secrets='whpk_MDEyMw==').respond({}, b'').body.decode())",
    )
    done = fresh.run(fresh.home / "bin" / "python", "-c", "\n".join(lines))
    assert done.stdout.splitlines() == [
        "The request has no header webhook-id.",
        "InputError: Ed25519 needs PyNaCl. Install it: pip install 'sweephand[receive]'",
    ], done.stderr


def test_the_wheel_delivers_after_the_command_that_it_asks_for(fresh: Installed) -> None:
    done = fresh.run(fresh.sweephand, "dev")
    assert (done.returncode, done.stdout) == (2, "")
    (wanted,) = re.findall(r"Install them: pip install '(.*)'\n$", done.stderr)
    fresh.install(wanted)

    with running(installed=fresh.sweephand) as dev:
        assert '/inbox/hello  {"hello":"world"}' in pasted(dev)
        assert "<title>" in dev.client.call("GET", "/console").body
        assert "<title>" in dev.client.call("GET", "/docs").body


def test_the_wheel_tests_consumers_as_its_page_says(fresh: Installed, tmp_path: Path) -> None:
    fresh.install("sweephand[testing]")
    for each in blocks(ROOT / "docs" / "testing.md", "python"):
        (tmp_path / f"test_{each.number}.py").write_text(each.text)

    done = fresh.run(fresh.home / "bin" / "python", "-m", "pytest", "--strict-markers", tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "sweephand-" in done.stdout, "pytest lists the plugins of distributions"


def test_the_wheel_rehearses_the_jobs_of_its_page(fresh: Installed, tmp_path: Path) -> None:
    fresh.install("sweephand[dev]")
    [file] = blocks(ROOT / "docs" / "rehearsal.md", "yaml")
    (tmp_path / "jobs.yaml").write_text(file.text)

    done = fresh.run(fresh.sweephand, "rehearse", tmp_path / "jobs.yaml", "--from", "2026-10-12T00:00:00Z")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "2026-10-25  Europe/Paris  02:30" in done.stdout


def test_the_wheel_packs_the_stack_of_the_release(
    fresh: Installed, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.install("sweephand[deploy]")
    monkeypatch.setenv("LAMBDA_PLATFORM", "native")
    # Its environment has no pip.
    python = ("env", f"PYTHON={sys.executable}")
    done = fresh.run(*python, fresh.sweephand, "deploy", "--package", tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr

    (stack,) = release.glob("*-stack.zip")
    with ZipFile(stack) as archive:
        released = {name: archive.read(name) for name in archive.namelist()}
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == released
