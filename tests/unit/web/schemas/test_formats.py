"""The patterns of the OpenAPI document accept the same texts as the code."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.http_events import document

from sweephand.base.errors import ScheduleError
from sweephand.base.names import NAME_PATTERN, is_name
from sweephand.model.run_id import batch_id, parse_batch_name, parse_run_name
from sweephand.schedules.clock.zones import zone_named, zone_names
from sweephand.schedules.durations import parse_duration_ms
from sweephand.schedules.time_points import DURATION_PATTERN, TIME_POINT_PATTERN, parse_time_point
from sweephand.web.schemas.formats import PATH

NOON = 1_795_262_400_000

#: Refusals of what a text means, not of how it is written.
OF_MEANING = ("too long;", "is past;", "names no instant;", "lies beyond the year 9999;")

# Texts that are durations or moments, and slips of them.
PIECES = st.sampled_from(
    [
        *"+-.0179PTWYMDHSdhmsZz:",
        "ms",
        "us",
        "ns",
        "µs",
        "μs",
        "00",
        "2027-01-31",
        "T09:00:00",
        "+01:00",
        ":60",
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=6)


def takes_duration(text: str) -> bool:
    try:
        parse_duration_ms(text)
    except ScheduleError as error:
        return any(each in str(error) for each in OF_MEANING)
    return True


def takes_time_point(text: str) -> bool:
    try:
        parse_time_point(text, requested_at=NOON, counted_from=NOON, zone=zone_named("UTC"))
    except ScheduleError as error:
        return any(each in str(error) for each in OF_MEANING)
    return True


@given(text=TEXTS | st.from_regex(DURATION_PATTERN, fullmatch=True))
def test_the_pattern_of_durations_accepts_the_same_texts_as_the_parser(text: str) -> None:
    assert takes_duration(text) == bool(re.fullmatch(DURATION_PATTERN, text)) or len(text) > 64


@given(text=TEXTS | st.from_regex(TIME_POINT_PATTERN, fullmatch=True))
def test_the_pattern_of_time_points_accepts_the_same_texts_as_the_parser(text: str) -> None:
    if not is_impossible_date(text):
        assert takes_time_point(text) == bool(re.fullmatch(TIME_POINT_PATTERN, text)) or len(text) > 64


def is_impossible_date(text: str) -> bool:
    """Whether a text has the digits of an instant in places where no date or time has them."""
    return bool(re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]", text)) and not re.fullmatch(
        TIME_POINT_PATTERN, text
    )


@pytest.mark.parametrize(
    "text", ["10.5s", "12.25h", "+1.5h", ".5s", "1.s", "P1M", "P1Y2M3DT4H5M6S", "P1Y2D", "PT1H2S"]
)
def test_the_pattern_of_time_points_accepts_a_duration_with_a_fraction(text: str) -> None:
    assert takes_time_point(text)
    assert re.fullmatch(TIME_POINT_PATTERN, text)


@pytest.mark.parametrize("text", ["-0s", "-0", "-5m", "1d12h", "P", "PT", "P1WT1H", "5", "1h 30m", ""])
def test_a_text_that_is_no_duration_is_refused_by_the_parser_and_by_the_pattern(text: str) -> None:
    assert not takes_duration(text)
    assert not re.fullmatch(DURATION_PATTERN, text)


@given(text=st.text(st.sampled_from("aZ9._~:@+=-/ é\n"), max_size=5))
def test_the_pattern_of_names_accepts_the_same_texts_as_the_code(text: str) -> None:
    assert is_name(text) == bool(re.fullmatch(NAME_PATTERN, text))


@given(text=st.from_regex(PATH["runId"][0]["pattern"], fullmatch=True) | st.text(max_size=20))
def test_the_pattern_of_run_ids_accepts_every_id_that_the_code_makes(text: str) -> None:
    named = parse_run_name(text)
    if re.fullmatch(r".*[0-9]{15}.*", text):
        return  # a due time beyond the year 9999
    assert (named is not None) == bool(re.fullmatch(PATH["runId"][0]["pattern"], text))


@given(text=st.from_regex(PATH["batchId"][0]["pattern"], fullmatch=True) | st.text(max_size=20))
def test_the_pattern_of_batch_ids_accepts_every_id_that_the_code_makes(text: str) -> None:
    first = parse_batch_name(text)
    if re.fullmatch(r".*[0-9]{15}.*", text):
        return  # a due time beyond the year 9999
    assert (first is not None) == bool(re.fullmatch(PATH["batchId"][0]["pattern"], text))
    if first is not None:
        assert batch_id(first.due_at, first.demand) == text
        assert parse_run_name(str(first)) == first


def test_the_pattern_of_time_zones_accepts_every_zone_of_the_database() -> None:
    schema = document()["components"]["schemas"]["JobRequest"]["properties"]["timezone"]["anyOf"][0]
    assert not [name for name in zone_names() if not re.fullmatch(schema["pattern"], name)]


def texts(schema: Any, path: str = "") -> list[tuple[str, Any]]:
    """Every schema of a text in a document, with its place."""
    if isinstance(schema, list):
        return [found for at, each in enumerate(schema) for found in texts(each, f"{path}/{at}")]
    if not isinstance(schema, dict):
        return []
    own = [(path, schema)] if schema.get("type") == "string" else []
    return own + [found for name, each in schema.items() for found in texts(each, f"{path}/{name}")]


#: Texts for people, which may be empty and hold any character.
FREE = (
    "description",
    "reason",
    "labels/",
    "HttpTarget/properties/headers",
    "properties/ics",
    "properties/note",
)


def test_every_text_field_of_a_request_has_a_pattern_a_format_or_a_list_of_values() -> None:
    told = document()
    written = {name: each for name, each in told["components"]["schemas"].items() if name.endswith(WRITTEN)}
    assert len(written) > 10
    found = texts(written) + [
        (f"{path}/{parameter['name']}", parameter["schema"])
        for path, methods in told["paths"].items()
        for operation in methods.values()
        for parameter in operation.get("parameters", [])
        if parameter["schema"].get("type") == "string"
    ]
    # The rule that a filter needs a field is in the description of its fields.
    found = [(place, schema) for place, schema in found if "Request/anyOf" not in place]
    assert len(found) > 50
    for place, schema in found:
        if not any(each in place for each in FREE):
            assert schema.keys() & {"pattern", "format", "enum", "const"}, place
        if "enum" not in schema and "const" not in schema and "items" not in place:
            assert schema.keys() & {"maxLength", "pattern"}, place


WRITTEN = ("Request", "Target", "Retry", "CatchUp", "Dst")
