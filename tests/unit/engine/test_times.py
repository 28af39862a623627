"""How a test writes instants and lengths of time."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand_engine.times import Moment, Span, instant_of, span_ms


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ("3 weeks", 21 * DAY_MS),
        ("1 day 2 hours", DAY_MS + 2 * HOUR_MS),
        ("1h30m", 90 * MINUTE_MS),
        ("90 minutes", 90 * MINUTE_MS),
        ("1.5s", 1_500),
        ("250 ms", 250),
        ("2 min", 2 * MINUTE_MS),
        (" 1 d ", DAY_MS),
        (10, 10 * SECOND_MS),
        (0.25, 250),
        (0, 0),
        (timedelta(days=1, milliseconds=5), DAY_MS + 5),
    ],
)
def test_a_length_of_time(span: Span, expected: int) -> None:
    assert span_ms(span) == expected


@pytest.mark.parametrize("span", ["", "soon", "3", "3 fortnights", "1h later", "-1h", "1 s s"])
def test_a_text_of_no_known_form_is_refused_with_examples(span: str) -> None:
    with pytest.raises(ValueError, match="Write '3 weeks', '1 day 2 hours' or '90s'"):
        span_ms(span)


@pytest.mark.parametrize("span", [-1, timedelta(seconds=-1)])
def test_time_goes_forward_only(span: Span) -> None:
    with pytest.raises(ValueError, match="Time goes forward only"):
        span_ms(span)


@pytest.mark.parametrize(
    "moment",
    [
        "2026-10-25T01:00:00Z",
        "2026-10-25T03:00:00+02:00",
        datetime(2026, 10, 25, 1, tzinfo=UTC),
        datetime(2026, 10, 25, 3, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_an_instant(moment: Moment) -> None:
    assert instant_of(moment) == 1_792_890_000_000


@pytest.mark.parametrize(
    ("moment", "complaint"),
    [
        ("tomorrow", "'tomorrow' is no instant. Write it as '2026-10-25T01:00:00Z'"),
        ("2026-10-25T01:00:00", "has no offset. Write it as '2026-10-25T01:00:00Z'"),
        (datetime(2026, 10, 25), "has no offset"),  # noqa: DTZ001 - refused for that
    ],
)
def test_an_instant_that_is_no_instant_is_refused(moment: Moment, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        instant_of(moment)
