"""The wheel alone, in an environment of its own: what a user has who has no clone of the repository."""

import hashlib
import re
from pathlib import Path

import pytest
from infra.dist import SUMS, build
from infra.local.dev import running
from infra.local.installed import Installed
from tests.e2e.test_dev import pasted

from sweephand import __version__


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make dist` writes."""
    folder = tmp_path_factory.mktemp("release")
    build(folder)
    return folder


def test_a_release_has_the_hash_of_each_file(release: Path) -> None:
    lines = (release / SUMS).read_text("utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = {each.name: each.read_bytes() for each in release.iterdir() if each.name != SUMS}
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    endings = ("-py3-none-any.whl", ".tar.gz", "-lambda.cdx.json")
    assert set(sums) == {f"sweephand-{__version__}{ending}" for ending in endings}


def test_the_wheel_delivers_after_the_command_that_it_asks_for(release: Path, tmp_path: Path) -> None:
    (wheel,) = release.glob("*.whl")
    fresh = Installed(tmp_path / "environment")
    fresh.install(str(wheel))
    done = fresh.run(fresh.sweephand, "dev")
    assert (done.returncode, done.stdout) == (2, "")
    (wanted,) = re.findall(r"Install them: pip install '(.*)'\n$", done.stderr)
    fresh.install(wanted)

    with running(installed=fresh.sweephand) as dev:
        assert '/inbox/hello  {"hello":"world"}' in pasted(dev)
        assert "<title>" in dev.client.call("GET", "/console").body
        assert "<title>" in dev.client.call("GET", "/docs").body
