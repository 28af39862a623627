"""Writes the reference of the API as Markdown: a page for each resource, from the OpenAPI document."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from infra.site.pages import Page

#: The page that lists all calls. The pages of the resources are below it.
INDEX: Final = "reference.md"

_PLAIN: Final = {"string": "text", "integer": "whole number", "null": ""}
_CODE: Final = "`{}`"
#: An object is described by another one if they share that many fields, and that part of the other one's.
_SHARED_MIN: Final = 5
_SHARED_PART: Final = 0.8


class _Reference:
    """The pages of one document. An object is described on the page of the first resource that has it."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._schemas = document["components"]["schemas"]
        self._responses = document["components"]["responses"]
        self._info = document["info"]
        self._tags = {tag["name"]: tag["description"] for tag in document["tags"]}
        calls = [
            (f"{method.upper()} {path}", call)
            for path, methods in document["paths"].items()
            for method, call in methods.items()
        ]
        self._calls = {tag: [each for each in calls if tag in each[1]["tags"]] for tag in self._tags}
        # Each object that is described, and the resource that describes it.
        self._homes: dict[str, str] = {}
        for tag, found in self._calls.items():
            for name in self._objects(call for _, call in found):
                self._homes.setdefault(name, tag)
        self._rows = {name: list(self._rows_of(self._schemas[name], "")) for name in self._homes}

    def pages(self) -> Iterator[Page]:
        """The page of all calls, and those of the resources."""
        yield Page(INDEX, _joined(self._index()))
        for tag in self._tags:
            yield Page(_place(tag), _joined(self._resource(tag)))

    def _index(self) -> Iterator[str]:
        yield f"# Reference of the API\n\n{self._info['description'].strip()}"
        yield "Your stack describes these calls itself: at `/docs`, and as OpenAPI at `/v1/openapi.json`."
        for tag, meaning in self._tags.items():
            rows = (
                (_CODE.format(line), f"[{call['summary']}]({_place(tag)}#{_slug(call['summary'])})")
                for line, call in self._calls[tag]
            )
            yield f"## {tag}\n\n{meaning}\n\n{_table(('call', 'what it does'), rows)}"
        problems = (
            (_CODE.format(status), description) for status, description in sorted(self._problems().items())
        )
        yield f"## Problems\n\n{_table(('status', 'meaning'), problems)}"

    def _problems(self) -> dict[str, str]:
        """What each status of a refusal means."""
        used = (call["responses"].items() for found in self._calls.values() for _, call in found)
        return {
            status: self._responses[answer["$ref"].rpartition("/")[2]]["description"]
            for each in used
            for status, answer in each
            if "$ref" in answer and "Gateway" not in answer["$ref"]
        }

    def _resource(self, tag: str) -> Iterator[str]:
        yield f"# API: {tag.lower()}\n\n{self._tags[tag]}"
        for line, call in self._calls[tag]:
            yield from self._call(line, call)
        objects = sorted(name for name, home in self._homes.items() if home == tag)
        if objects:
            yield "## Objects"
        for name in objects:
            rows = self._rows[name]
            base = self._base(name)
            about = self._schemas[name].get("description", "")
            if base:
                about += f" It has the fields of {self._kind_of({'$ref': f'/{base}'})}, and these:"
                rows = [row for row in rows if row not in self._rows[base]]
            yield f"### {name}\n\n{about}\n\n{_table(('field', 'kind', 'meaning'), rows)}"

    def _base(self, name: str) -> str | None:
        """The largest other object whose fields this one has too, most of them unchanged."""
        own = self._rows[name]
        order = list(self._rows)
        found = [
            (len(rows), each)
            for each, rows in self._rows.items()
            if (len(rows), order.index(each)) < (len(own), order.index(name))
            and {row[0] for row in rows} <= {row[0] for row in own}
            and len([row for row in rows if row in own]) >= max(_SHARED_MIN, _SHARED_PART * len(rows))
        ]
        return max(found)[1] if found else None

    def _call(self, line: str, call: Mapping[str, Any]) -> Iterator[str]:
        yield f"## {call['summary']}\n\n`{line}` · `{call['operationId']}`\n\n{call['description']}"
        parameters = [
            (
                _CODE.format(each["name"]) + f" {each['in']}",
                self._kind(each["schema"]),
                each["description"],
            )
            for each in call.get("parameters", ())
        ]
        if parameters:
            yield _table(("parameter", "kind", "meaning"), parameters)
        body = call.get("requestBody", {}).get("content", {}).get("application/json", {})
        if body:
            yield f"The body is {self._kind(body['schema'])}."
        for name, example in body.get("examples", {}).items():
            text = json.dumps(example["value"], indent=2, ensure_ascii=False)
            yield f"Example: {name}\n\n```json\n{text}\n```"
        answers = [
            (_CODE.format(status), answer.get("description", ""), self._answered(answer))
            for status, answer in call["responses"].items()
            if "$ref" not in answer
        ]
        yield _table(("answer", "meaning", "body"), answers)
        refused = (_CODE.format(status) for status, each in call["responses"].items() if "$ref" in each)
        yield f"[Problems]({'../' + INDEX}#problems): {', '.join(sorted(refused))}."

    def _answered(self, answer: Mapping[str, Any]) -> str:
        bodies = (self._kind(each["schema"]) for each in answer.get("content", {}).values())
        return next(bodies, "")

    def _rows_of(self, schema: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, str]]:
        """A row for each field of an object. Fields of an inner object have a dotted name."""
        for name, field in schema.get("properties", {}).items():
            required = " (required)" if name in schema.get("required", ()) else ""
            meaning = field.get("description", "")
            yield _CODE.format(prefix + name) + required, self._kind(field), meaning
            for inner in _alternatives(field):
                if "properties" in inner:
                    yield from self._rows_of(inner, f"{prefix}{name}.")

    def _kind(self, schema: Mapping[str, Any]) -> str:
        kinds = (self._kind_of(each) for each in _alternatives(schema))
        return " or ".join(dict.fromkeys(each for each in kinds if each)) or "any JSON"

    def _kind_of(self, schema: Mapping[str, Any]) -> str:
        match schema:
            case {"$ref": str(ref)}:
                name = ref.rpartition("/")[2]
                found = f"[{name}]({_place(self._homes[name]).rpartition('/')[2]}#{name.lower()})"
            case {"enum": values}:
                found = " · ".join(_CODE.format(json.dumps(value)) for value in values)
            case {"const": value}:
                found = _CODE.format(json.dumps(value))
            case {"type": "array"}:
                found = f"list of {self._kind(schema.get('items', {}))}"
            case {"format": "date-time"}:
                found = "time"
            case {"type": [*kinds]}:
                found = " or ".join(_PLAIN.get(each, each) for each in kinds)
            case {"type": str(kind)}:
                found = _PLAIN.get(kind, kind)
            case _:
                found = ""
        return found

    def _objects(self, schemas: Iterable[Any]) -> Iterator[str]:
        """The names of the objects that these schemas refer to, with those that the objects refer to."""
        waiting, seen = list(schemas), set[str]()
        while waiting:
            for ref in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(waiting.pop())):
                if ref not in seen:
                    seen.add(ref)
                    yield ref
                    waiting.append(self._schemas[ref])


def reference(document: Mapping[str, Any]) -> dict[str, Page]:
    """The pages of the reference by their places."""
    return {page.place: page for page in _Reference(document).pages()}


def _alternatives(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas of which a value fits one. Inner ones are among them."""
    inner = [each for key in ("anyOf", "oneOf") for each in schema.get(key, ())]
    if not inner or "properties" in schema:
        yield schema
    for each in inner:
        yield from _alternatives(each)


def _place(tag: str) -> str:
    return f"reference/{tag.lower()}.md"


def _slug(heading: str) -> str:
    """The anchor that a heading has on GitHub."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"
