"""Writes what the Python client takes from the OpenAPI document: the types of bodies, and the operations."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from infra.local.places import ROOT

from sweephand.web.operations import description

#: The package of the client that has nothing but what this command writes.
FOLDER: Final = ROOT / "client" / "sweephand_client" / "openapi"

#: The operations that the client leaves out, and why.
LEFT_OUT: Final = {
    "showPage": "A page for a browser.",
    "showConsole": "A page for a browser.",
    "showConsoleAsset": "A file of a page for a browser.",
}

#: The modules of the answers to the calls with a tag. Those to others are in stack_answers.
_ANSWERS: Final = {"Jobs": "job_answers", "Occurrences": "job_answers", "Runs": "run_answers"}

#: The modules of the answers and of the bodies too.
_WHOLE: Final = {
    "Calendars": "calendars",
    "Flow": "policies",
    "Namespaces": "namespaces",
    "Windows": "windows",
}

_ABOUT: Final = {
    "requests": "The bodies of requests, and the values that a query parameter takes.",
    "job_answers": "The answers about jobs and due times.",
    "run_answers": "The answers about runs, batches and what was delivered.",
    "stack_answers": "The answers about keys and the stack.",
    "calendars": "The bodies of calls about calendars, and their answers.",
    "namespaces": "The bodies of calls about settings of namespaces, and their answers.",
    "policies": "The bodies of calls about policies, and their answers.",
    "windows": "The bodies of calls about windows, and their answers.",
    "operations": "The operations of the API, each with its body and its answer.",
}

_HEADER: Final = '''"""{about}

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

{imports}

'''

#: The names of types that have none in the document, each by a field or a parameter that takes it.
_NAMES: Final = {
    "JobRequest.schedule": "ScheduleFields",
    "JobRequest.target": "Target",
    "JobRequest.onComplete": "EndTarget",
    "NamespaceRequest.defaultTarget": "NamespaceTarget",
    "ResumeRequest.catchup": "CatchUpMode",
    "KeyRequest.role": "Role",
    "listJobs.state": "JobState",
    "listRuns.state": "RunFilter",
    "listNamespaceRuns.state": "FlaggedRunFilter",
}

_PLAIN: Final = {
    "string": "str",
    "integer": "int",
    "number": "Decimal | float",
    "boolean": "bool",
    "null": "None",
}
_STANDARD: Final = {"decimal": ["Decimal"], "typing": ["Any", "Final", "Literal", "NotRequired", "TypedDict"]}
_PAGE_FIELDS: Final = {"items", "nextCursor"}


class _Call(NamedTuple):
    """A call that the client has. `described` is its operation in the document."""

    method: str
    path: str
    described: Mapping[str, Any]

    @property
    def tag(self) -> str:
        """The tag of the call."""
        found: str = self.described["tags"][0]
        return found

    @property
    def body(self) -> Mapping[str, Any] | None:
        """The schema of the request's body."""
        content = self.described.get("requestBody", {}).get("content", {})
        found: Mapping[str, Any] | None = content.get("application/json", {}).get("schema")
        return found

    @property
    def answer(self) -> Mapping[str, Any] | None:
        """The schema of the answer. All successful statuses of a call have the same."""
        contents = (
            each.get("content", {}).get("application/json", {})
            for status, each in self.described["responses"].items()
            if status.startswith("2")
        )
        found: Mapping[str, Any] | None = next(contents).get("schema")
        return found


class _Types:
    """The Python types of schemas. `definitions` are those named so far, each after those that it uses.

    `places` are the schemas by whose fields and parameters _NAMES names types.
    """

    def __init__(self, components: Mapping[str, Any], places: Mapping[str, Any]) -> None:
        self._components = components
        self._names = {_key(_unnamed(places[place])): name for place, name in _NAMES.items()}
        self.definitions: dict[str, str] = {}

    def of(self, schema: Mapping[str, Any]) -> str:
        """The type of a schema, whose named types are defined from then on."""
        match schema:
            case {"$ref": str(ref)}:
                found = self._component(ref.rpartition("/")[2])
            case {"const": value}:
                found = f"Literal[{value!r}]"
            case {"enum": values}:
                found = f"Literal[{', '.join(map(repr, values))}]"
            case {"anyOf": kinds} | {"oneOf": kinds}:
                # Beside others, {} is what the API takes only to refuse it with a sentence of its own.
                each_once = dict.fromkeys(self.of(each) for each in kinds if each)
                found = " | ".join(sorted(each_once, key="None".__eq__)).replace("] | Literal[", ", ")
            case {"type": [*kinds]}:
                found = " | ".join(_PLAIN[each] for each in kinds)
            case {"type": "array"}:
                found = f"list[{self.of(schema['items'])}]"
            case {"type": "object"}:
                found = self._object(schema)
            case {"type": plain}:
                found = _PLAIN[plain]
            case _:
                found = "Any"
        name = self._names.get(_key(schema), found)
        if name != found:
            self.definitions[name] = f"{name} = {found}"
        return name

    def _component(self, name: str) -> str:
        schema = self._components[name]
        if schema["properties"].keys() == _PAGE_FIELDS:
            return f"Page[{self.of(schema['properties']['items']['items'])}]"
        return self._defined(name, schema)

    def _object(self, schema: Mapping[str, Any]) -> str:
        if "properties" in schema:
            return self._defined(self._names.get(_key(schema)) or schema["title"], schema)
        values = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
        found = dict.fromkeys(self.of(each) for each in values if isinstance(each, Mapping))
        return f"dict[str, {' | '.join(found) or 'Any'}]"

    def _defined(self, name: str, schema: Mapping[str, Any]) -> str:
        if name not in self.definitions:
            base = self._base(name, schema)
            own = {
                field: each
                for field, each in schema["properties"].items()
                if base is None or field not in self._components[base]["properties"]
            }
            required = schema.get("required", ())
            fields = {
                field: kind if field in required else f"NotRequired[{kind}]"
                for field, kind in ((field, self.of(each)) for field, each in own.items())
            }
            parent = "TypedDict" if base is None else self._component(base)
            self.definitions[name] = _typed_dict(name, parent, fields, schema.get("description", ""))
        return name

    def _base(self, name: str, schema: Mapping[str, Any]) -> str | None:
        """The component that has most of these fields and no others, and whose name is a part of this one."""
        words, own = _words(name), _fields(schema)
        smaller = [
            (len(fields), each)
            for each, other in self._components.items()
            if _words(each) < words and (fields := _fields(other)) <= own
        ]
        return max(smaller)[1] if smaller else None


def _unnamed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What has no name in a schema: a set of values, a choice of objects, or an object."""
    while not schema.keys() & {"enum", "discriminator", "properties"}:
        kinds = [each for name in ("anyOf", "oneOf") for each in schema.get(name, ())]
        schema = next(each for each in kinds if each.get("type") != "string" or "enum" in each)
    return schema


def _key(schema: Mapping[str, Any]) -> str:
    """A text that two schemas share if they accept the same."""
    return json.dumps({**schema, "description": "", "title": ""}, sort_keys=True)


def _fields(schema: Mapping[str, Any]) -> set[str]:
    """The fields of an object, each with its schema but not with what that says to people."""
    required = schema.get("required", ())
    return {f"{name} {name in required} {_key(each)}" for name, each in schema["properties"].items()}


def _words(name: str) -> set[str]:
    return set(re.findall("[A-Z][a-z]*", name))


def _typed_dict(name: str, parent: str, fields: Mapping[str, str], description: str) -> str:
    first, stop, _ = " ".join(description.split()).partition(". ")
    meaning = first + stop.strip() or "An object with these fields."
    if "from" in fields:  # no field of a class can have this name
        entries = ", ".join(f"{field!r}: {kind}" for field, kind in fields.items())
        return f"#: {meaning}\n{name} = TypedDict({name!r}, {{{entries},}})"
    lines = [f"    {field}: {kind}" for field, kind in fields.items()]
    return "\n".join([f"class {name}({parent}):", f'    """{meaning}"""', "", *lines])


def modules(document: Mapping[str, Any]) -> dict[str, str]:
    """The text of each module, by its name."""
    calls = list(_calls(document))
    places = dict(_places(document["components"]["schemas"], calls))
    types = _Types(document["components"]["schemas"], places)
    roots: dict[str, list[Mapping[str, Any] | None]] = {name: [] for name in _ABOUT if name != "operations"}
    for each in calls:
        whole = _WHOLE.get(each.tag)
        roots[whole or "requests"].append(each.body)
        roots[whole or _ANSWERS.get(each.tag, "stack_answers")].append(each.answer)
    roots["requests"] += [places[name] for name in _NAMES]
    homes: dict[str, str] = {}
    texts: dict[str, str] = {}
    for module, schemas in roots.items():
        for schema in schemas:
            types.of(schema or {})
        own = {name: text for name, text in types.definitions.items() if name not in homes}
        texts[module] = _module(module, own.values(), homes)
        homes |= dict.fromkeys(own, module)
    texts["operations"] = _module("operations", [_operation(each, types) for each in calls], homes)
    return texts


def _places(components: Mapping[str, Any], calls: Iterable[_Call]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The schema of each field of an object and of each parameter of a call, by both names."""
    for name, schema in components.items():
        for field, each in schema["properties"].items():
            yield f"{name}.{field}", each
    for call in calls:
        for each in call.described.get("parameters", ()):
            yield f"{call.described['operationId']}.{each['name']}", each["schema"]


def _calls(document: Mapping[str, Any]) -> Iterator[_Call]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            if described["operationId"] not in LEFT_OUT:
                yield _Call(method.upper(), path, described)


def _operation(call: _Call, types: _Types) -> str:
    name = call.described["operationId"]
    constant = re.sub("([A-Z])", r"_\1", name).upper()
    kinds = ", ".join("None" if each is None else types.of(each) for each in (call.body, call.answer))
    return f"{constant}: Final = Operation[{kinds}]({name!r}, {call.method!r}, {call.path!r})"


def _module(name: str, definitions: Iterable[str], homes: Mapping[str, str]) -> str:
    """The formatted text of a module. `homes` says which module has each type that it may import."""
    body = "\n".join(definitions)
    own = {"sweephand_client.http.operation": ["Operation", "Page"]}
    for each, home in homes.items():
        own.setdefault(f"sweephand_client.openapi.{home}", []).append(each)
    groups = [_imports(_STANDARD, body), _imports(own, body)]
    text = _HEADER.format(about=_ABOUT[name], imports="\n\n".join(filter(None, groups))) + body
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--quiet", "--stdin-filename", str(FOLDER / f"{name}.py"), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def _imports(places: Mapping[str, list[str]], body: str) -> str:
    """The imports of those names that a text uses, besides in docstrings and strings."""
    words = set(re.findall(r"\w+", re.sub(r'"""(?s:.*?)"""|\'.*?\'', "", body)))
    used = ((place, sorted(words & set(names))) for place, names in sorted(places.items()))
    return "\n".join(f"from {place} import {', '.join(names)}" for place, names in used if names)


def main() -> None:
    """Write the modules."""
    for name, text in modules(json.loads(description())).items():
        (FOLDER / f"{name}.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
