"""The consumers of a rehearsal take as long, and fail as often, as they are said to."""

import random

import pytest

from sweephand_engine.rehearsal.consumer import DEFAULT, Consumer, Outage, read_consumers, read_outage
from sweephand_engine.times import instant_of


def test_times_and_failures_are_those_that_were_asked_for() -> None:
    chance = random.Random(1)  # noqa: S311 - the same each time
    consumer = Consumer(p50_ms=200, p99_ms=3_000, fail=0.05)
    answers = [consumer.answer(chance) for _ in range(20_000)]
    took = sorted(each.took_ms for each in answers)
    assert took[10_000] == pytest.approx(200, rel=0.05)
    assert took[19_800] == pytest.approx(3_000, rel=0.1)
    assert sum(each.fails for each in answers) / 20_000 == pytest.approx(0.05, rel=0.1)


def test_a_consumer_of_one_speed_always_takes_as_long() -> None:
    chance = random.Random(1)  # noqa: S311 - the same each time
    assert {Consumer(p50_ms=7, p99_ms=7).answer(chance).took_ms for _ in range(50)} == {7}
    assert {Consumer(p50_ms=0, p99_ms=7).answer(chance).took_ms for _ in range(50)} == {0}


def test_the_most_exact_name_says_whose_consumer_it_is() -> None:
    texts = ["fail=2%", "report-*:p50=20s", "report-daily:p50=1m", "report-d*:p50=30s"]
    found = read_consumers(texts)
    assert [each.names for each in found] == ["report-daily", "report-d*", "report-*", "*"]
    assert next(each.p50_ms for each in found if each.serves("report-daily")) == 60_000
    assert next(each.p50_ms for each in found if each.serves("report-dull")) == 30_000
    assert next(each.fail for each in found if each.serves("other")) == 0.02


def test_what_is_not_given_has_a_default() -> None:
    assert read_consumers([]) == [DEFAULT]
    assert read_consumers(["p50=1s"]) == [Consumer(p50_ms=1_000)]
    assert read_consumers(["p50=1m"]) == [Consumer(p50_ms=60_000, p99_ms=60_000)]


def test_an_outage_may_have_its_beginning() -> None:
    assert read_outage("2h") == Outage(7_200_000)
    begin = instant_of("2026-10-25T00:00:00Z")
    assert read_outage("90m@2026-10-25T00:00:00Z") == Outage(5_400_000, begin)
