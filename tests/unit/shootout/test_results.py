"""The summary of rounds, and the file that keeps them."""

from pathlib import Path

from infra.shootout.results import Record, Result, summary


def test_a_summary_has_medians_and_the_worst_of_what_went_wrong() -> None:
    rounds = [
        Result("a", "oneoffs", number, {"lost": lost, "p99 ms": p99_ms})
        for number, (lost, p99_ms) in enumerate([(0, 30), (2, 10), (0, 20)], start=1)
    ]
    found = summary(rounds)[("a", "oneoffs")]
    assert (found.figures, found.round) == ({"lost": 2, "p99 ms": 20}, 3)


def test_a_round_without_figures_does_not_hide_the_others() -> None:
    rounds = [Result("a", "oneoffs", 1, {"lost": 0}), Result("a", "oneoffs", 2, why="too slow")]
    found = summary(rounds)[("a", "oneoffs")]
    assert found.figures == {"lost": 0}


def test_a_summary_says_why_there_are_no_figures() -> None:
    found = summary([Result("a", "kill", 1, why="memory"), Result("b", "kill", 1, {"lost": 0})])
    assert found[("a", "kill")].why == "memory"


def test_a_run_replaces_what_it_measures_again_and_keeps_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    record = Record(file)
    for peer in "ab":
        record.add(Result(peer, "oneoffs", 1, {"lost": 0}))

    again = Record(file)
    again.forget(["a"], ["oneoffs", "kill"])
    again.add(Result("a", "oneoffs", 1, {"lost": 1}))

    found = summary(Record(file).results)
    assert {peer: each.figures["lost"] for (peer, _), each in found.items()} == {"a": 1, "b": 0}
