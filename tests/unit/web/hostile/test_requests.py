"""No request of at most 1 MB takes more than half a second of CPU, whoever sends it and on whatever route.

Each test sends a sample of its requests, another one for another call. `make verify` sends all.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, cycle, islice
from time import process_time
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import pytest
from tests.fakes.http_events import document, event_of
from tests.fakes.probe import CPU_S_MAX, slowness
from tests.unit.web.hostile.bodies import UNITS, body, places, values
from tests.unit.web.tenants.calls import Call, calls
from tests.unit.web.tenants.town import Town, town_for

from sweephand.base import limits

#: The gateway takes a request line and headers of 10,240 bytes together.
LINE_BYTES: Final = 8_000

#: What a body has besides the hostile value.
_REST_BYTES: Final = 3_000

CALLS: Final = calls()

#: One of this many requests is sent.
SAMPLED: Final = 1 if os.environ.get("SWEEPHAND_WHOLE") else 6


class Hostile(NamedTuple):
    """A request that is meant to keep the API busy. `what` describes it."""

    what: str
    text: str | None = None
    query: str = ""
    headers: Mapping[str, str] = {}


def without_key() -> Iterator[Hostile]:
    """The requests that anybody sends, and that a consumer with a run token sends."""
    for size in (limits.CALLBACK_BODY_BYTES_MAX - 2, limits.BODY_BYTES_MAX - 2):
        yield Hostile(f"{size} blanks and a letter", " " * size + "x")
        yield Hostile(f"{size} blanks in braces", "{" + " " * size + "}")
        yield Hostile(f"{size} blanks after a brace", "{" + " " * size)
    for what, value in values(limits.CALLBACK_BODY_BYTES_MAX - _REST_BYTES):
        yield Hostile(what, value)


def in_bodies(town: Town, call: Call) -> Iterator[Hostile]:
    """Each value as the whole body, each value at every place at once, and a value at each place alone."""
    content = _operation(call).get("requestBody", {}).get("content", {})
    if not content:
        yield from without_key()
    for kind, described in [*content.items()][:1]:
        headers = {"content-type": kind}
        size = _bytes_max(town, call) - _REST_BYTES
        yield Hostile("blanks and a letter", " " * size + "x", headers=headers)
        for what, value in values(size):
            yield Hostile(what, value, headers=headers)
        found = places(described["schema"])
        # A place with places below it is left out where all are filled, as the value would replace those.
        leaves = [each for each in found if not any(other[: len(each)] == each != other for other in found)]
        share = size // len(leaves) - 40
        for what, value in values(share):
            yield Hostile(
                f"{what} everywhere", body(call.example, dict.fromkeys(leaves, value)), headers=headers
            )
        for place, (what, value) in zip(found, cycle(values(size)), strict=False):
            at = "/".join(map(str, place))
            yield Hostile(f"{what} at {at}", body(call.example, {place: value}), headers=headers)


def in_lines(call: Call) -> Iterator[Hostile]:
    """Long and many parameters of the query, and long headers."""
    named = [each["name"] for each in _operation(call).get("parameters", []) if each["in"] == "query"]
    for unit in UNITS:
        long = unit * (LINE_BYTES // len(quote(unit)))
        for name in named:
            yield Hostile(f"{name} of {unit!a}", query=f"{name}={quote(long)}")
        yield Hostile(
            f"parameters of {unit!a}", query=f"{quote(unit)}=&" * (LINE_BYTES // (len(quote(unit)) + 2))
        )
        if unit.isprintable() and unit.isascii():
            for name in ("content-type", "authorization", "If-Match", "If-None-Match"):
                yield Hostile(f"{name} of {unit!a}", "{}", headers={name: unit * (LINE_BYTES // len(unit))})
    for name in named:
        yield Hostile(f"{name} many times", query=f"{name}=a:b&" * (LINE_BYTES // (len(name) + 5)))
    for begun in ("application/json;", 'application/json; a="', "application/json; a*=utf-8''"):
        yield Hostile(
            f"content type {begun}", "{}", headers={"content-type": begun + ';"' * (LINE_BYTES // 2)}
        )
    for tag in ('"a",', 'W/"",', '" '):
        yield Hostile(f"If-Match of {tag}", "{}", headers={"If-Match": tag * (LINE_BYTES // len(tag))})


def _operation(call: Call) -> Any:
    return document()["paths"][call.path][call.method.lower()]


def _bytes_max(town: Town, call: Call) -> int:
    """The size up to which the call reads a body: with one byte more it answers 413."""
    for limit in (limits.CALLBACK_BODY_BYTES_MAX, limits.SMALL_BODY_BYTES_MAX):
        over = Hostile("a body over the limit", " " * (limit + 1))
        if _sent(town, call, over, town.everything_key["admin"])[0] == 413:
            return limit
    return limits.BODY_BYTES_MAX


def _sent(town: Town, call: Call, hostile: Hostile, credential: str | None) -> tuple[int, float]:
    """The status of the answer, and the CPU time that it took, in seconds."""
    headers = {"content-type": "application/json"}
    if credential is not None:
        headers["authorization"] = f"Bearer {credential}"
    event = event_of(
        call.method,
        call.url(town.ours.names, hostile.query),
        body=hostile.text,
        headers={**headers, **hostile.headers},
        caller=town.caller(headers.get("authorization")),
    )
    began_s = process_time()
    status = town.client.handler(event, None)["statusCode"]
    return status, process_time() - began_s


def _slowest(town: Town, call: Call, hostile: Iterable[Hostile], credential: str | None) -> tuple[float, str]:
    """The longest CPU time of the requests, in seconds, and what took it.

    Of the requests it sends a sample. A slow one is sent up to five times, and its shortest time counts.
    Other work of the machine can only add to it.
    """
    slowest = (0.0, "nothing")
    for each in islice(hostile, CALLS.index(call) % SAMPLED, None, SAMPLED):
        status, took_s = _sent(town, call, each, credential)
        for _ in range(4):
            if took_s > CPU_S_MAX * 0.8:
                took_s = min(took_s, _sent(town, call, each, credential)[1])
        assert status < 500, each.what
        slowest = max(slowest, (took_s, f"{each.what}: {status}"))
    return slowest


@pytest.mark.sampled(3)
@pytest.mark.parametrize("call", CALLS, ids=lambda each: each.name)
def test_no_request_with_a_key_takes_half_a_second_of_cpu(call: Call) -> None:
    town = town_for(call)
    hostile = chain(in_bodies(town, call), in_lines(call))
    took_s, what = _slowest(town, call, hostile, town.everything_key["admin"])
    print(f"{call.name}: {took_s:.3f} s for {what}")  # noqa: T201 - pytest shows the worst request with -rP
    assert took_s < CPU_S_MAX or took_s < CPU_S_MAX * slowness(), what


@pytest.mark.sampled(3)
@pytest.mark.parametrize("call", CALLS, ids=lambda each: each.name)
@pytest.mark.parametrize("credential", [None, "shr_" + "A" * 43], ids=["nobody", "run token"])
def test_no_request_without_a_key_takes_a_tenth_of_a_second_of_cpu(
    call: Call, credential: str | None
) -> None:
    took_s, what = _slowest(town_for(call), call, without_key(), credential)
    print(f"{call.name}: {took_s:.3f} s for {what}")  # noqa: T201 - pytest shows the worst request with -rP
    assert took_s < CPU_S_MAX / 5 or took_s < CPU_S_MAX / 5 * slowness(), what
