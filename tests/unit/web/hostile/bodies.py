"""Bodies that are meant to keep the API busy, made from the OpenAPI document.

A new operation or field gets its bodies by itself: each value stands at every place of a request's schema.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from json import dumps
from typing import Any, Final

from tests.fakes.http_events import document

#: Texts that patterns and parsers of one kind or another repeat over. Some are longer in JSON than in memory.
UNITS: Final = (
    *' \ta0/.~,*?{[%:="',
    "\x00",
    "é",
    "\U0001f4a5",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "{{",
    "{{due",
    "%7b",
    "a.",
    "1,",
    "1h",
    "P1D",
    "R/",
    "a@",
    "*/1 ",
    "../",
    "whsec_",
)

#: A place in a body: the names of fields from the outermost on, and 0 for the first entry of a list.
Place = tuple[str | int, ...]

#: Marks the place of a value in a text of JSON, because some values are JSON that `dumps` does not write.
_MARK: Final = "@value@"

_DEPTH_MAX: Final = 2


@lru_cache(maxsize=4)
def values(size: int) -> tuple[tuple[str, str], ...]:
    """JSON values of about that many bytes, each with what it is."""
    return (*_texts(size), *_structures(size))


def _texts(size: int) -> Iterator[tuple[str, str]]:
    """JSON strings of about that many bytes, with what they repeat."""
    for unit in UNITS:
        written = dumps(unit, ensure_ascii=False)[1:-1]
        yield f"the text {unit!a}", f'"{written * (size // len(written.encode()))}"'


def _structures(size: int) -> Iterator[tuple[str, str]]:
    """JSON values of about that many bytes that have much to look at: numbers, lists, objects and names."""
    yield "levels", "[" * (size // 2) + "]" * (size // 2)
    yield "levels of objects", '{"a":' * (size // 6) + "0" + "}" * (size // 6)
    yield "an integer", "9" * size
    yield "a fraction", f"0.{'9' * size}"
    yield "an exponent", f"1e{'9' * size}"
    for what, each in (
        ("integers", "0"),
        ("negative zeros", "-0"),
        ("fractions", "0.5"),
        ("long integers", "9" * 40),
        ("texts", '"a"'),
        ("lists", "[]"),
        ("objects", "{}"),
        ("jobs", '{"name":"a"}'),
        ("instants", '"2030-01-01T00:00:00Z"'),
    ):
        yield f"a list of {what}", f"[{_repeated([each], size)}]"
    for what, name, value in (
        ("short names", "", "0"),
        ("names with texts", "", '"a"'),
        ("names with objects", "", "{}"),
        ("names with secrets", "", '{"secretRef":"a"}'),
        ("long names", "x" * 124, '"a"'),
        ("names of tildes", "~" * 58, "0"),
        ("names with colons", ":" * 58, '"a"'),
        ("names like fields", "heartbeatTimeou", "0"),
    ):
        entries = [f'"{name}{number:05x}":{value}' for number in range(size // (len(name + value) + 9))]
        yield f"an object of {what}", f"{{{','.join(entries)}}}"
    twice = [f'"{number % 50_000:05x}":0' for number in range(size // 10)]
    yield "an object with a name twice", f"{{{','.join(twice)}}}"
    typed = '{"type":"http","url":"https://consumer.example/","headers":%s}'
    names = ",".join(f'"a{number:05x}":"b"' for number in range(size // 13))
    yield "a target with many headers", typed % f"{{{names}}}"
    yield "a target with unknown fields", typed.replace("%s", "{}}")[:-1] + f",{names}}}"


def places(schema: Mapping[str, Any]) -> list[Place]:
    """The places of a body's schema, the outermost first. Those of all its alternatives are among them."""
    found = dict.fromkeys(_places(schema, (), 0))
    return sorted(found, key=len)


def body(example: Any, values: Mapping[Place, str]) -> str:
    """The example as JSON, with each value at its place."""
    document: Any = {"": example if isinstance(example, dict) else {}}
    for number, place in enumerate(values):
        document = _with(document, ("", *place), f"{_MARK}{number}{_MARK}")
    text = dumps(document[""])
    for number, value in enumerate(values.values()):
        text = text.replace(f'"{_MARK}{number}{_MARK}"', value)
    return text


def _repeated(parts: list[str], size: int) -> str:
    return ",".join(parts * (size // (len(",".join(parts)) + 1)))


def _places(schema: Mapping[str, Any], at: Place, depth: int) -> Iterator[Place]:
    if "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for choice in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(choice, ()):
            yield from _places(each, at, depth)
    inner = {**schema.get("properties", {}), **({0: schema["items"]} if schema.get("items") else {})}
    for name, each in inner.items():
        yield (*at, name)
        if depth < _DEPTH_MAX:
            yield from _places(each, (*at, name), depth + 1)


def _with(document: Any, place: Place, value: Any) -> Any:
    """The document with the value at the place. What is in its way gives way."""
    if not place:
        return value
    name, *rest = place
    if isinstance(name, int):
        first = document[0] if isinstance(document, list) and document else None
        return [_with(first, tuple(rest), value)]
    found = dict(document) if isinstance(document, dict) else {}
    return {**found, name: _with(found.get(name), tuple(rest), value)}
