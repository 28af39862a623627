"""Trace contexts: which headers are read, and which context an attempt sends."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand.model.trace import Origin, context_of, read_traceparent, trace_id_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SENT = f"00-{TRACE}-{SPAN}-01"
PARENT = Origin(SENT, is_parent=True)

HEX = "0123456789abcdef"
TRACES, SPANS, FLAGS = (st.text(HEX, min_size=size, max_size=size) for size in (32, 16, 2))


@pytest.mark.parametrize(
    ("header", "read"),
    [
        (SENT, SENT),
        (f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-00"),
        (f"00-{TRACE}-{SPAN}-03", SENT),  # level 2 has another flag
        (f"00-{TRACE}-{SPAN}-fe", f"00-{TRACE}-{SPAN}-00"),
        (f"01-{TRACE}-{SPAN}-01", SENT),
        (f"cc-{TRACE}-{SPAN}-01-what-comes-later", SENT),
        (f"cc-{TRACE}-{SPAN}-01-", SENT),
    ],
)
def test_a_valid_header_is_read_as_version_00(header: str, read: str) -> None:
    assert read_traceparent(header) == read


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "hello",
        SENT.upper(),
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}-0",
        f"00-{TRACE}-{SPAN}-0g",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}a-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01-",
        f"cc-{TRACE}-{SPAN}-01.what-comes-later",
        f"{SENT},{SENT}",
        f" {SENT}",
        f"{SENT}\n",
        f"00-{TRACE}-{SPAN}-\u0660\u0661",
    ],
)
def test_what_the_standard_ignores_is_no_context(header: str | None) -> None:
    assert read_traceparent(header) is None


@given(version=FLAGS, trace=TRACES, span=SPANS, flags=FLAGS, rest=st.sampled_from(["", "-", "-x", "x"]))
def test_every_header_is_read_as_the_standard_says(
    version: str, trace: str, span: str, flags: str, rest: str
) -> None:
    is_known = version != "ff" and bool(int(trace, 16)) and bool(int(span, 16))
    is_whole = not rest or (rest.startswith("-") and version != "00")
    read = read_traceparent(f"{version}-{trace}-{span}-{flags}{rest}")
    assert read == (f"00-{trace}-{span}-0{int(flags, 16) % 2}" if is_known and is_whole else None)


@given(st.text(max_size=80) | st.from_regex(r"\A[0-9a-f]{2}-[0-9a-f]{31,33}-[0-9a-f]{15,17}-.{0,4}\Z"))
def test_any_text_is_ignored_or_read_as_a_header_of_version_00(header: str) -> None:
    read = read_traceparent(header)
    assert read is None or read_traceparent(read) == read


def test_the_first_attempt_of_a_single_trigger_is_a_child() -> None:
    context = context_of(PARENT, "uid-1-0", 1)
    version, trace, span, flags = str(context.traceparent).split("-")
    assert (version, trace, flags) == ("00", TRACE, "01")
    assert span != SPAN
    assert context.link is None


@pytest.mark.parametrize(
    ("origin", "number"), [(PARENT, 2), (PARENT, 10), (Origin(SENT), 1), (Origin(SENT), 2)]
)
@pytest.mark.parametrize("flags", ["00", "01"])
def test_other_attempts_begin_a_trace_and_link_to_the_origin(origin: Origin, number: int, flags: str) -> None:
    origin = origin._replace(traceparent=f"00-{TRACE}-{SPAN}-{flags}")
    made, link = context_of(origin, "uid-1-0", number)
    assert trace_id_of(str(made)) != TRACE
    assert str(made).endswith(f"-{flags}")
    assert link == origin.traceparent


@pytest.mark.parametrize(("origin", "number"), [(None, 1), (PARENT, 0)])
def test_without_an_origin_or_an_attempt_there_is_no_context(origin: Origin | None, number: int) -> None:
    assert context_of(origin, "uid-1-0", number) == (None, None)


@given(
    origin=st.sampled_from([PARENT, Origin(SENT)]),
    name=st.text(st.characters(codec="ascii"), max_size=300),
    number=st.integers(1, 10**6),
)
def test_every_context_that_is_sent_is_valid(origin: Origin, name: str, number: int) -> None:
    made = str(context_of(origin, name, number).traceparent)
    assert read_traceparent(made) == made
    assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", made)


def test_each_attempt_at_each_trigger_has_ids_of_its_own() -> None:
    names = (f"uid-{due}-{index}" for due, index in product(range(30), range(30)))
    made = [str(context_of(Origin(SENT), *each).traceparent) for each in product(names, range(1, 4))]
    assert len({trace_id_of(each) for each in made}) == len({each[36:52] for each in made}) == len(made)
