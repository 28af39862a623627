"""How the steps of a task are counted."""

import pytest
from infra.tasks.steps import Click, Press, Type, clicks, none, programs, shell


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("sweephand job list", 1),
        ("sweephand why nightly --at $(date -u -d '1 hour ago' +%FT%TZ)", 2),
        (
            "sweephand run list | tail -n +2 | while read job run; do sweephand run redrive $job $run; done",
            3,
        ),
        ("for each in $(sweephand namespace list | tail -n +2); do sweephand run list -n $each; done", 3),
        ("ID=$(sweephand key list | grep demo | cut -d ' ' -f 1); sweephand key rotate $ID", 4),
        ('sweephand job trigger nightly --data \'{"a": "$(b) | c; do d"}\'', 1),
        ("sweephand export --file a && sed -i s/a/b/ a", 2),
    ],
)
def test_each_program_that_a_line_calls_counts(line: str, count: int) -> None:
    assert programs(line) == count


def test_a_way_counts_its_steps() -> None:
    assert shell("sweephand a", "sweephand b | head").size == 3
    assert clicks(Click("a"), Type("b", "c"), Press("Enter")).size == 3
    assert clicks().size == 0


def test_a_way_that_does_not_exist_says_why() -> None:
    assert (none("No calendars.").exists, none("No calendars.").why) == (False, "No calendars.")
    assert (clicks().exists, shell("a").exists) == (True, True)


def test_a_digest_changes_with_each_step() -> None:
    ways = [
        shell("a"),
        shell("a", "b"),
        clicks(),
        clicks(Click("a")),
        clicks(Press("a")),
        clicks(Type("a", "b")),
    ]
    assert len({each.digest for each in ways}) == len(ways)
    assert shell("a").digest == shell("a").digest
