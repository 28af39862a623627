"""The command, and a real run with few triggers."""

import json
from pathlib import Path

import pytest
from infra.shootout.__main__ import main
from infra.shootout.lineup import PEERS


def test_an_unknown_scheduler_or_scenario_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--peers", "quartz"], ["--scenarios", "coffee"]):
        with pytest.raises(SystemExit):
            main(words)
    assert "invalid choice: 'coffee'" in capsys.readouterr().err


def test_each_scheduler_has_a_name_of_its_own_and_says_how_it_is_set_and_delivers() -> None:
    assert len({each.name for each in PEERS}) == len(PEERS)
    assert all(each.setting and each.delivers for each in PEERS)


def test_the_harness_measures_sweephand_and_says_what_it_does_not_measure(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    words = "--peers sweephand-memory --scenarios instant recurring kill --rounds 1"
    size = "--seconds 1 --herds 10 --recurring 2"
    assert main([*words.split(), *size.split(), "--results", str(file)]) == 0

    written = json.loads(file.read_text(encoding="utf-8"))
    found = {each["scenario"]: each for each in written["results"]}
    owed = {name: each["figures"].get("owed") for name, each in found.items()}
    assert owed == {"instant-10": 10, "recurring": 2, "kill": None}
    assert found["kill"]["why"] == "its state ends with the process"
    for name in ("instant-10", "recurring"):
        figures = found[name]["figures"]
        assert (figures["lost"], figures["early"], figures["twice"]) == (0, 0, 0), name
        assert figures["created/s"] > 0
    assert found["instant-10"]["figures"]["stored MB"] > 10
    assert set(written["peers"]) == {"sweephand-memory"}
