"""The text of a schedule decides on its notation, and an invalid text raises a schedule error."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.schedules.say import at, unhurried

from sweephand.base.errors import InvalidError
from sweephand.base.limits import SCHEDULE_LENGTH_MAX
from sweephand.schedules import ScheduleError, ScheduleInput, parse_duration_ms
from sweephand.schedules.notations.aws import At, Rate
from sweephand.schedules.notations.cron import Cron
from sweephand.schedules.notations.parsing import Every, parse_schedule, read_schedule
from sweephand.schedules.notations.repetition import Repetition
from sweephand.schedules.request import series_of
from sweephand.schedules.schedule import InstantList, NamedFields

NOW = at("2026-11-21T07:00:00Z")


def test_each_notation_is_recognized() -> None:
    assert isinstance(parse_schedule("30 2 * * MON-FRI").notation, Cron)
    assert isinstance(parse_schedule("0 30 2 * * MON-FRI").notation, Cron)
    assert isinstance(parse_schedule(" @hourly ").notation, Cron)
    assert parse_schedule("@every 1h30m").notation == Every(5_400_000_000_000)
    assert parse_schedule("@every\t 1s").notation == Every(1_000_000_000)
    assert isinstance(parse_schedule("rate(5 minutes)").notation, Rate)
    assert isinstance(parse_schedule("cron(0 10 ? * 6L 2027)").notation, Cron)
    assert isinstance(parse_schedule("at(2027-03-01T09:00:00)").notation, At)
    assert isinstance(parse_schedule("R4/PT3S").notation, Repetition)
    assert isinstance(read_schedule({"hour": "3,6,9"}), NamedFields)
    assert isinstance(read_schedule(["2026-12-24T14:00:00Z"]), InstantList)


def test_the_parser_caches_a_schedule() -> None:
    assert parse_schedule("17 3 * * *") is parse_schedule("17 3 * * *")


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("30 2 * * *", None),
        ("CRON_TZ=Europe/Riga 30 2 * * *", "Europe/Riga"),
        ("TZ=Europe/Riga  0 30 2 * * *", "Europe/Riga"),
        ("  TZ=Asia/Tokyo \t@daily", "Asia/Tokyo"),
        ("TZ=Asia/Tokyo rate(1 hour)", "Asia/Tokyo"),
        ("TZ=Asia/Tokyo R4/PT3S", "Asia/Tokyo"),
        ("CRON_TZ=Asia/Tokyo @every 1h", "Asia/Tokyo"),
    ],
)
def test_a_prefix_names_the_zone(text: str, zone: str | None) -> None:
    assert parse_schedule(text).zone_name == zone


def test_only_a_space_ends_the_zone_of_a_prefix() -> None:
    assert parse_schedule("TZ=Asia/Tokyo\t0 0 0 * * * *").zone_name == "Asia/Tokyo\t0"


@pytest.mark.parametrize("text", ["CRON_TZ= 0 0 * * *", "TZ=", "TZ=  "])
def test_a_prefix_without_a_zone_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match="names no zone"):
        parse_schedule(text)


def test_a_prefix_without_a_schedule_is_refused() -> None:
    with pytest.raises(ScheduleError, match="empty schedule"):
        parse_schedule("CRON_TZ=UTC")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"hour": "3,6,9"}', "the object or the list itself"),
        ('["2026-12-24T14:00:00Z"]', "the object or the list itself"),
        ("PT1H", "such as R/PT1H"),
        ("2s", "has 1 field; expected five"),
        ("", "rate(5 minutes)"),
    ],
)
def test_a_text_that_is_nearly_a_schedule_gets_a_suggestion(text: str, reason: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_schedule(text)
    assert repr(text) in str(refusal.value) or not text
    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    "text", ["@Daily", "@reboot", "@every1h", "@", "@EVERY 1h", "@daily 5", "@yearlyy", "@every, 1h"]
)
def test_an_unknown_macro_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match="is no macro; expected one of @yearly"):
        parse_schedule(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("@every", "'' is no duration"),
        ("@every Xm", "'Xm' in 'Xm' lacks a number"),
        ("@every 0s", "'0s' after @every is too short"),
        ("@every -1s", "'-1s' after @every is too short"),
        ("@every 999ms", "at least 1s"),
        ("@every 0.999999999s", "at least 1s"),
        ("@every 1d", "'d' in '1d' is no unit"),
        ("@every 1h 30m", "'h ' in '1h 30m' is no unit"),
        ("@every PT1H", "'PT' in 'PT1H'"),
        ("@every 300000000h", "too long"),
    ],
)
def test_an_invalid_period_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_schedule(text)
    assert reason in str(refusal.value)
    assert "expected" in str(refusal.value)


@pytest.mark.parametrize(
    "text", ["0\N{NO-BREAK SPACE}0 * * *", "0 0\n* * *", "0\t0 * *\n*", "0\x000 * * * *", "é", "\x7f"]
)
def test_a_character_that_belongs_to_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match="belongs to no schedule"):
        parse_schedule(text)


def test_a_schedule_of_the_maximal_length_is_accepted_and_a_longer_one_is_refused() -> None:
    every_minute = ",".join(map(str, range(60)))
    parse_schedule(f"{every_minute} {every_minute} * * * *")
    with pytest.raises(ScheduleError, match=f"at most {SCHEDULE_LENGTH_MAX} characters") as refusal:
        parse_schedule("*" * (SCHEDULE_LENGTH_MAX + 1))
    assert len(str(refusal.value)) < 300


PIECES = (
    "* ? / - , # L W LW 0 1 5 7 12 15 31 59 60 99 -1 JAN dec MON sun @every @daily @ TZ= CRON_TZ= UTC "
    "Europe/Paris 1h 30m s ns P T PT R R4/ rate( cron( ) { } [ ] . + 2027-01-01T00:00:00Z é"
)
pieces = st.sampled_from([*PIECES.split(), " ", " ", " ", "\0", "\t", "\n"])
texts = st.one_of(st.text(max_size=40), st.lists(pieces, max_size=25).map("".join))
maybe = st.one_of(st.none(), texts)
POINTERS = {"/schedule", "/timezone", "/dueTime", "/ttl", "/repeats"}


@given(
    texts,
    st.one_of(st.none(), texts),
    st.one_of(st.none(), texts),
    st.one_of(st.none(), texts),
    st.integers(),
)
@settings(unhurried, max_examples=500)
@example("59 59 23 31 12 *", "Pacific/Kiritimati", "9999-12-31T23:59:59.999Z", None, 1)
@example("* * * * * *", "Pacific/Kiritimati", "9999-12-31T09:59:59.999Z", None, 1)
@example("0 0 29 2 */6", None, "9990-01-01T00:00:00Z", None, 1)
@example("@every 2000000h", None, "9990-01-01T00:00:00Z", None, 1)
@example(None, "Pacific/Kiritimati", "9999-12-31T23:59:59.999Z", "P1D", 1)
@example("0 0 * * *", "Etc/GMT+12", "P292Y", "P292Y", 1)
def test_parsing_any_text_as_a_schedule_raises_no_other_error_than_a_schedule_error(
    schedule: str | None, zone: str | None, due_time: str | None, ttl: str | None, repeats: int
) -> None:
    try:
        series = series_of(
            schedule=schedule, timezone=zone, due_time=due_time, ttl=ttl, repeats=repeats, requested_at=NOW
        )
    except InvalidError as refusal:
        pointers = {each.pointer for each in refusal.violations}
    else:
        pointers = set()
        first = series.next_after(NOW - 1)
        assert first is not None
        last_at = series.last_at()
        assert last_at is None or last_at >= first.due_at
    assert pointers <= POINTERS


@unhurried
@given(texts)
def test_parsing_any_text_as_a_duration_raises_no_other_error_than_a_schedule_error(text: str) -> None:
    try:
        duration_ms = parse_duration_ms(text)
    except ScheduleError:
        duration_ms = 0
    assert duration_ms >= 0


@pytest.mark.parametrize(
    ("text", "zone", "instead"),
    [
        ("0 9 * * * Europe/Paris", "Europe/Paris", "CRON_TZ=Europe/Paris 0 9 * * *"),
        ("0 9 * * MON-FRI  America/Argentina/Salta", "America/Argentina/Salta", "0 9 * * MON-FRI"),
        ("0 0 9 * * * UTC", "UTC", "CRON_TZ=UTC 0 0 9 * * *"),
        ("@every 1h Europe/Paris", "Europe/Paris", "CRON_TZ=Europe/Paris @every 1h"),
    ],
)
def test_a_zone_after_a_schedule_is_refused_and_shown_where_it_belongs(
    text: str, zone: str, instead: str
) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_schedule(text)
    assert str(refusal.value).startswith(f"'{zone}' is no part of a schedule; expected the zone as the job's")
    assert instead in str(refusal.value)


@pytest.mark.parametrize("text", ["0 9 * * *\n", "@daily\r\n", "rate(5 minutes)\n"])
def test_a_line_break_at_the_end_is_named(text: str) -> None:
    with pytest.raises(ScheduleError, match="ends with a line break; expected the schedule alone"):
        parse_schedule(text)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ({"year": "2020", "hour": 3}, '{"hour": "3", "year": "2020"}'),
        (["2020-01-01T00:00:00Z"], "the only instant is past"),
    ],
)
def test_a_schedule_that_is_over_is_shown_as_it_was_written(schedule: ScheduleInput, message: str) -> None:
    with pytest.raises(InvalidError) as refusal:
        series_of(
            schedule=schedule,
            timezone=None,
            due_time=None,
            ttl=None,
            repeats=None,
            dst=None,
            requested_at=NOW,
        )
    assert message in str(refusal.value)
    assert "NamedFields" not in str(refusal.value)
