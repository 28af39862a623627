"""The peers, as far as nothing of theirs is installed."""

import json
from pathlib import Path
from typing import Any

import pytest
from infra.local.places import ROOT, StackError
from infra.shootout import postgres
from infra.shootout.lineup import PEERS
from infra.shootout.node import NodePrograms
from infra.shootout.peer import Trigger
from infra.shootout.peers.scheduler import schedule

_OF_NPM = [each for each in PEERS if isinstance(each, NodePrograms)]


def test_a_peer_from_npm_tells_the_versions_that_are_locked_and_has_its_script() -> None:
    locked = json.loads((ROOT / "requirements/shootout/package-lock.json").read_text(encoding="utf-8"))
    assert {each.script for each in _OF_NPM} == {"bullmq.mjs", "pgboss.mjs", "restate.mjs"}
    for each in _OF_NPM:
        assert (ROOT / "infra/shootout/clients" / each.script).exists()
        for package, version in NodePrograms.versions(each).items():
            assert locked["packages"][f"node_modules/{package}"]["version"] == version


def test_without_npm_a_peer_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.shootout.programs.Programs.install", lambda _: None)
    monkeypatch.setattr("infra.shootout.node.shutil.which", lambda _: None)
    with pytest.raises(StackError, match="npm, which installs the packages of restate, is missing"):
        next(each for each in _OF_NPM if each.name == "restate").install()


def test_without_postgresql_a_peer_names_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(postgres, "_BIN", tmp_path / "none")
    with pytest.raises(StackError, match="apt-get install postgresql-15"):
        postgres.version()


@pytest.mark.parametrize(("due_at", "second"), [(5_000, 5), (5_001, 6), (5_999, 6)])
def test_a_schedule_of_whole_seconds_is_never_due_early(due_at: int, second: int) -> None:
    created: list[dict[str, Any]] = []

    class Client:
        def create_schedule(self, **asked: Any) -> None:
            created.append(asked)

    schedule(Client(), Trigger("a", due_at))
    assert created[0]["ScheduleExpression"] == f"at(1970-01-01T00:00:0{second})"
    assert created[0]["Target"]["Input"] == "a"
