"""Every text comes back code point by code point, or is refused and leaves nothing behind."""

import json
import unicodedata
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.http_events import JOB, TARGET, Answered, Client
from tests.fakes.world import NOON
from tests.unit.web.strategies import SOME

JOBS: Final = "/v1/namespaces/ns/jobs"
JOB_URL: Final = f"{JOBS}/job"

ODD_TEXTS: Final = {
    "NUL": "\x00",
    "C0 controls": "\x01\x08\x0b\x1f\x7f",
    "white space": " \t\r\n\x0c\x85\xa0\u2003\u3000",
    "C1 controls": "\x80\x9b\x9f",
    "a byte order mark": "\ufeffops",
    "marks of direction": "\u202eevil\u202c\u2066\u2069\u200f\u061c",
    "zero width": "o\u200bp\u200cs\u200d\u2060",
    "line separators": "a\u2028b\u2029c",
    "composed": unicodedata.normalize("NFC", "e\u0301\u1e9b\u0323"),
    "decomposed": unicodedata.normalize("NFD", "\u00e9\u1e9b\u0323"),
    "compatibility": "\ufb01\u2460\uff21\u212b",
    "letters that change their length": "\u0130\u0131\u00df\u1e9e\u01c5\ufb03",
    "astral": "\U0001f4a5\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f1eb\U0001f1f7",
    "non-characters": "\ufdd0\ufffe\uffff\U0001fffe\U0010ffff",
    "private use": "\ue000\uf8ff\U000f0000",
    "a long grapheme": "e" + "\u0301" * 100,
    "replacement": "\ufffd",
    "tags": "\U000e0001\U000e007f",
    "JSON": '"}],\\u0000\\/{"',
    "markup": "<script>'&amp;\"</script>",
    "format strings": "%s {0} {{due}} ${x} #{y} \\x41",
}

Write = Callable[[Client, str], Answered]
Read = Callable[[Client], Any]


#: Where a caller can write a text, and where it reads it again.
PLACES: Final[dict[str, tuple[Write, Read]]] = {
    "data": (
        lambda client, text: client.put(job={**JOB, "data": text}),
        lambda client: client.get().json["data"],
    ),
    "a name in data": (
        lambda client, text: client.put(job={**JOB, "data": {text: 1}}),
        lambda client: next(iter(client.get().json["data"])),
    ),
    "a description": (
        lambda client, text: client.put(job={**JOB, "description": text}),
        lambda client: client.get().json["description"],
    ),
    "a patched description": (
        lambda client, text: client.send("PATCH", JOB_URL, {"description": text}),
        lambda client: client.get().json["description"],
    ),
    "a label": (
        lambda client, text: client.put(job={**JOB, "labels": {"name": text}}),
        lambda client: client.get().json["labels"]["name"],
    ),
    "a label's name": (
        lambda client, text: client.put(job={**JOB, "labels": {text.replace(":", ""): "x"}}),
        lambda client: next(iter(client.get().json["labels"])),
    ),
    "a reason": (
        lambda client, text: client.send("POST", f"{JOB_URL}/pause", {"reason": text}),
        lambda client: client.get().json["pauseReason"],
    ),
    "a reason in bulk": (
        lambda client, text: client.send("POST", "/v1/namespaces/ns/pause", {"prefix": "j", "reason": text}),
        lambda client: client.send("GET", f"{JOB_URL}/changes").json["items"][0]["reason"],
    ),
    "a key's description": (
        lambda client, text: client.send(
            "POST", "/v1/keys", {"namespace": "ns", "role": "read", "description": text}
        ),
        lambda client: client.send("GET", "/v1/keys").json["items"][0]["description"],
    ),
    "a bulk write": (
        lambda client, text: client.send("POST", JOBS, {"jobs": [{"name": "job", **JOB, "data": text}]}),
        lambda client: client.get().json["data"],
    ),
}


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
@pytest.mark.parametrize("place", PLACES)
def test_an_odd_text_comes_back_as_it_was_written(place: str, text: str) -> None:
    write, read = PLACES[place]
    client = Client()
    client.put()
    written = write(client, text)
    assert written.status in (200, 201), written.text
    assert read(client) == (text.replace(":", "") if place == "a label's name" else text)


@SOME
@given(text=st.text(min_size=1, max_size=128), place=st.sampled_from(sorted(PLACES)))
def test_any_text_comes_back_as_it_was_written(text: str, place: str) -> None:
    text = text.replace(":", ".")
    write, read = PLACES[place]
    client = Client()
    client.put()
    assert write(client, text).status in (200, 201)
    assert read(client) == text


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_a_text_is_the_same_whether_it_is_written_as_escape_sequences_or_in_utf_8(text: str) -> None:
    client = Client()
    job = {**JOB, "data": {"text": text}, "description": text}
    assert client.put(job=None, text=json.dumps(job)).status == 201
    etag = client.get().etag
    again = client.put(job=None, text=json.dumps(job, ensure_ascii=False).encode())
    assert (again.status, again.etag) == (200, etag)
    assert client.get().json["data"] == {"text": text}


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_a_consumer_gets_data_with_an_odd_text_as_equal_json(client: Client, text: str) -> None:
    client.put(job={"dueTime": "10s", "target": TARGET, "data": {text: [text]}})
    client.world.run_until(NOON + 11_000)
    (attempt,) = client.world.consumers.attempts
    assert json.loads(attempt.body) == {text: [text]}


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_an_odd_text_in_a_header_is_refused_or_sent_as_it_is(client: Client, text: str) -> None:
    written = client.put(job={**JOB, "target": {**TARGET, "headers": {"x-odd": text}}})
    is_latin = all(each == "\t" or " " <= each <= "~" or "\x80" <= each <= "\xff" for each in text)
    if is_latin and "{{" not in text:
        assert client.get().json["target"]["headers"] == {"x-odd": text}
    elif written.status != 201:
        assert (written.status, written.pointers) == (422, ["/target/headers/x-odd"])
        assert client.get().status == 404
    else:
        assert "{{due}}" in text


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_an_odd_text_as_a_name_is_refused_and_leaves_nothing_behind(client: Client, text: str) -> None:
    for url, body in (
        (f"{JOBS}/{quote(text, safe='')}", JOB),
        (f"/v1/namespaces/{quote(text, safe='')}/jobs/job", JOB),
        (f"/v1/namespaces/ns/policies/{quote(text, safe='')}", {"maxConcurrent": 1}),
        (f"/v1/namespaces/ns/secrets/{quote(text, safe='')}", {"value": "x"}),
    ):
        refused = client.send("PUT", url, body)
        assert refused.status in ((422, 404) if "/" in text else (422,)), url
    made = client.send("POST", "/v1/keys", {"namespace": text, "role": "read"})
    assert (made.status, made.pointers) == (422, ["/namespace"])
    bulk = client.send("POST", JOBS, {"jobs": [{"name": text, **JOB}]}).json["results"][0]
    assert (bulk["name"], bulk["status"]) == (text, 422)
    assert client.send("GET", JOBS).json["items"] == []
    assert client.send("GET", "/v1/namespaces").json["items"] == []
    assert client.send("GET", "/v1/namespaces/ns/secrets").json["items"] == []


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_a_list_is_filtered_by_the_very_code_points_of_a_label(client: Client, text: str) -> None:
    client.put("odd", {**JOB, "labels": {"of": text}})
    client.put("other", {**JOB, "labels": {"of": unicodedata.normalize("NFKC", text).casefold() + "."}})
    for encoded in (quote(f"of:{text}", safe=""), quote_plus(f"of:{text}")):
        found = client.send("GET", f"{JOBS}?label={encoded}").json["items"]
        assert [each["name"] for each in found] == ["odd"]


def test_composed_and_decomposed_letters_are_two_labels_of_one_job(client: Client) -> None:
    labels = {"caf\u00e9": "NFC", "cafe\u0301": "NFD"}
    assert client.put(job={**JOB, "labels": labels}).status == 201
    assert client.get().json["labels"] == labels
    assert client.send("GET", f"{JOBS}?label=caf%C3%A9:NFC").json["items"] != []
    assert client.send("GET", f"{JOBS}?label=caf%C3%A9:NFD").json["items"] == []


def test_a_plus_in_a_query_is_a_space_and_an_encoded_one_is_a_plus(client: Client) -> None:
    client.put("space", {**JOB, "labels": {"of": "a b"}})
    client.put("plus", {**JOB, "labels": {"of": "a+b"}})
    for query, name in (("a+b", "space"), ("a%20b", "space"), ("a%2Bb", "plus"), ("a%2bb", "plus")):
        (found,) = client.send("GET", f"{JOBS}?label=of:{query}").json["items"]
        assert found["name"] == name


@pytest.mark.parametrize(
    "query",
    [
        "label=of:%FF",
        "label=of:%C3",
        "label=of:%C0%AF",
        "label=of:%ED%A0%80",
        "%FF=1",
        "prefix=%F8%88%80%80%80",
    ],
)
def test_a_query_that_is_not_utf_8_is_refused(client: Client, query: str) -> None:
    client.put("odd", {**JOB, "labels": {"of": "\ufffd"}})
    for method in ("GET", "DELETE"):
        refused = client.send(method, f"{JOBS}?{query}")
        assert (refused.status, refused.pointers) == (422, [""])
        assert "not UTF-8" in refused.json["errors"][0]["detail"]
    assert client.get("odd").status == 200


@pytest.mark.parametrize(
    "name",
    [
        "%00",
        "a%00b",
        "%2e",
        "%2e%2e",
        ".",
        "..",
        "%252e",
        "%25",
        "a%2520b",
        "%0A",
        "a%0D%0Ab",
        "%C3%A9",
        "%FF",
        "a+b%20c",
        "a;b",
        "a%3Fb",
        "a%23b",
        "%EF%BB%BFjob",
        "job%E2%80%8B",
        "%EF%BD%8A%EF%BD%8F%EF%BD%82",
    ],
)
def test_a_path_with_an_odd_name_is_refused_and_finds_no_other_job(client: Client, name: str) -> None:
    client.put()
    for method, body in (("PUT", JOB), ("GET", None), ("PATCH", {"repeats": 2}), ("DELETE", None)):
        refused = client.send(method, f"{JOBS}/{name}", body)
        assert (refused.status, refused.pointers) == (422, ["/name"])
    assert [each["name"] for each in client.send("GET", JOBS).json["items"]] == ["job"]


@pytest.mark.parametrize("name", ["a+b", "a%2Bb", "a=b@c:d~e", "%6A%6F%62", "...", "-", "~"])
def test_a_name_in_a_path_is_what_its_percent_encoding_says(client: Client, name: str) -> None:
    assert client.send("PUT", f"{JOBS}/{name}", JOB).status == 201
    decoded = {"a%2Bb": "a+b", "%6A%6F%62": "job"}.get(name, name)
    assert [each["name"] for each in client.send("GET", JOBS).json["items"]] == [decoded]


@pytest.mark.parametrize(
    "number",
    ["-0", "-0.0", "0.10", "1e999", "-1E-999", "1E+2", "123456789012345678901234567890.50", "9" * 400],
)
def test_a_number_in_data_leaves_as_it_came(client: Client, number: str) -> None:
    job = {"dueTime": "10s", "target": TARGET, "data": "NUMBER"}
    text = json.dumps(job).replace('"NUMBER"', f'{{"n": [ {number} ]}}')
    assert client.put(job=None, text=text).status == 201
    assert f'"data":{{"n":[{number}]}}' in str(client.get().text)
    client.world.run_until(NOON + 11_000)
    assert client.world.consumers.attempts[0].body.decode() == f'{{"n":[{number}]}}'


@pytest.mark.parametrize("number", ["-0", "1e999", "-1e999", "9" * 400, "1e-1", "0.5", "1e20"])
@pytest.mark.parametrize("field", ['"repeats": N', '"retry": {"maxAttempts": N}', '"batch": {"count": N}'])
def test_a_number_that_a_field_cannot_have_is_refused(client: Client, field: str, number: str) -> None:
    job = json.dumps(JOB)[:-1] + f", {field.replace('N', number)}}}"
    assert client.put(job=None, text=job).status == 422
    assert client.get().status == 404


@pytest.mark.parametrize(
    "body",
    [
        b'{"data": "\xc0\xaf"}',
        b'{"data": "\xed\xa0\x80\xed\xb0\x80"}',
        b'{"data": "\xf4\x90\x80\x80"}',
        b'{"data": "\xf8\x88\x80\x80\x80"}',
        b'{"data": "\xc3"}',
        b'{"da\xfftas": 1}',
        '{"data": "x"}'.encode("utf-16"),
        '{"data": "x"}'.encode("utf-32-le"),
        b'{"data": "\\ud800"}',
        b'{"data": "\\udc00\\ud800"}',
        b'{"\\udbff": 1}',
        b'{"data": "\\u12"}',
        b'{"data": "\\x41"}',
        b'{"data": "a\x00b"}',
        b'\x00{"data": 1}',
        b'{"data": 1}\x00',
        b'{"labels": {"a": "1", "\\u0061": "2"}}',
    ],
)
@pytest.mark.parametrize(("method", "url"), [("PUT", JOB_URL), ("PATCH", JOB_URL), ("POST", JOBS)])
def test_a_body_that_readers_would_read_differently_is_refused_with_400(
    client: Client, method: str, url: str, body: bytes
) -> None:
    client.put()
    before = client.get().text
    refused = client.send(method, url, text=body)
    assert refused.status == 400
    assert refused.json["detail"].startswith(("The body", "A text in the body", "The name"))
    assert client.get().text == before


def test_a_byte_order_mark_before_a_body_is_ignored(client: Client) -> None:
    assert client.put(job=None, text=b"\xef\xbb\xbf" + json.dumps(JOB).encode()).status == 201
    assert client.put(job=JOB).status == 200
