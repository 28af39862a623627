"""Durations in the notations of Go and ISO 8601 and in days, and the errors for other texts."""

import pytest

from sweephand.schedules import ScheduleError, duration_text, parse_duration_ms
from sweephand.schedules.durations import Duration, parse_duration, parse_go_duration_ns

HOUR_NS = 3_600_000_000_000


@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [
        ("0", 0),
        ("0s", 0),
        ("45s", 45_000),
        ("+1m", 60_000),
        ("1h30m", 5_400_000),
        ("30m1h", 5_400_000),
        ("1.5h", 5_400_000),
        (".5s", 500),
        ("2.s", 2_000),
        ("250ms", 250),
        ("7d", 604_800_000),
        ("0d", 0),
        ("PT1H30M", 5_400_000),
        ("P2W", 1_209_600_000),
        ("P1DT12H", 129_600_000),
        ("PT0S", 0),
        ("P007D", 604_800_000),
        ("PT1H2S", 3_602_000),
        ("PT0H2S", 2_000),
        ("P0Y1D", 86_400_000),
        ("P0Y1DT1H1S", 90_001_000),
    ],
)
def test_a_duration_is_read_in_each_notation(text: str, expected_ms: int) -> None:
    assert parse_duration_ms(text) == expected_ms


@pytest.mark.parametrize(
    ("text", "expected_ms"), [("1ns", 1), ("1us", 1), ("1.0000001s", 1_001), ("1µs1ms", 2)]
)
def test_parts_of_a_millisecond_are_rounded_up(text: str, expected_ms: int) -> None:
    assert parse_duration_ms(text) == expected_ms


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        ("-5s", -5_000_000_000),
        ("-0", 0),
        ("1h1ns", HOUR_NS + 1),
        ("2us", 2_000),
        ("2µs", 2_000),
        ("2μs", 2_000),
    ],
)
def test_a_go_duration_keeps_its_nanoseconds_and_its_sign(text: str, expected_ns: int) -> None:
    assert parse_go_duration_ns(text) == expected_ns


def test_a_go_duration_is_limited_to_64_bits_of_nanoseconds() -> None:
    assert parse_go_duration_ns(f"{2**63 - 1}ns") == 2**63 - 1
    assert parse_go_duration_ns(f"-{2**63}ns") == -(2**63)
    with pytest.raises(ScheduleError, match="at most 292 years"):
        parse_go_duration_ns(f"{2**63}ns")


def test_an_iso_duration_keeps_calendar_parts_and_elapsed_parts_apart() -> None:
    assert parse_duration("P1Y2M3DT4H5M6S") == Duration(14, 3, 4 * HOUR_NS + 306_000_000_000)
    assert parse_duration("P1Y2D") == Duration(12, 2, 0)
    assert parse_duration("P1DT36H") == Duration(0, 1, 36 * HOUR_NS)
    assert parse_duration("PT36H") == Duration(0, 0, 36 * HOUR_NS)
    assert parse_duration("P2W") == Duration(0, 14, 0)
    assert parse_duration("14d") == Duration(0, 0, 14 * 24 * HOUR_NS)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "''"),
        ("3", "'3'"),
        ("1h3", "'3'"),
        ("ms", "'ms'"),
        (".s", "'.s'"),
        ("-", "'-'"),
        ("1x", "'x'"),
        ("1 h", "' h'"),
        ("1d12h", "'d'"),
        ("1H", "'H'"),
        ("٣s", "'٣s'"),
        ("-5s", "'-5s' is negative"),
        ("P", "'P'"),
        ("PT", "'PT'"),
        ("P1DT", "'P1DT'"),
        ("P1Y2D", "'P1Y2D' has years or months"),
        ("PT1S1H", "'PT1S1H'"),
        ("PT1S1S", "'PT1S1S'"),
        ("P1D1Y", "'P1D1Y'"),
        ("P1D1D", "'P1D1D'"),
        ("PT1D", "'PT1D'"),
        ("P1H", "'P1H'"),
        ("P1", "'P1'"),
        ("P1YT", "'P1YT'"),
        ("P1Y2W", "'P1Y2W'"),
        ("P1WT1H", "'P1WT1H'"),
        ("PT0,5S", "'PT0,5S'"),
        ("P0.5Y", "'P0.5Y'"),
        ("P+1D", "'P+1D'"),
        ("P٣D", "'P٣D'"),
        ("P0018-09-04T11:09:08", "'P0018-09-04T11:09:08'"),
        ("P00180904T110908", "'P00180904T110908'"),
        ("P1W1D", "'P1W1D'"),
        ("PT0.5S", "'PT0.5S'"),
        ("P-1D", "'P-1D'"),
        ("-P1D", "'P'"),
        ("P1D\n", "'P1D"),
        ("p1d", "'p1d'"),
        ("P1M", "'P1M' has years or months"),
        ("P1Y", "'P1Y' has years or months"),
        ("3000000h", "'3000000h' is too long"),
        ("P300Y", "'P300Y' is too long"),
        (f"P{'9' * 60}D", "is too long"),
        (f"P{'9' * 60}Y", "is too long"),
        (f"PT{'9' * 60}S", "is too long"),
        ("9999999d", "'9999999d' is too long"),
        ("1" * 65 + "s", "too long to be read"),
        ("tomorrow", "'tomorrow'"),
    ],
)
def test_a_text_that_is_no_duration_is_refused_with_the_part_that_is_wrong(text: str, part: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_duration_ms(text)
    assert part in str(refusal.value)
    assert "expected" in str(refusal.value)


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [(1_000, "1s"), (1_500, "1500ms"), (90_000, "90s"), (3_600_000, "1h"), (86_400_000, "24h")],
)
def test_a_duration_is_written_in_the_longest_unit_that_divides_it(duration_ms: int, text: str) -> None:
    assert duration_text(duration_ms) == text
    assert parse_duration_ms(text) == duration_ms
