"""Reads and writes files of jobs, which `apply` takes: YAML 1.2, and so JSON too."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import NoneType
from typing import Any, Final, NamedTuple, cast

import yaml

from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.requests import JobRequest

_TAGS: Final = "tag:yaml.org,2002:"
_INT: Final = f"{_TAGS}int"
_FLOAT: Final = f"{_TAGS}float"
#: Which text without quotes is not a string: the core schema of YAML 1.2, with numbers as JSON writes them.
#: For each tag its pattern, and the characters with which such a text begins.
_CORE: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    f"{_TAGS}bool": (r"true|false", "tf"),
    f"{_TAGS}null": (r"~|null|", ["~", "n", ""]),
    _FLOAT: (r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", "-0123456789"),
    f"{_TAGS}merge": (r"<<", "<"),
}

#: A job has at most 262,144 bytes of `data` (GET /v1/limits), so it has fewer values.
_VALUES_MAX: Final = 262_144


class _Own(NamedTuple):
    """A field that the API does not know: its JSON Schema, and what to say of a value of another type."""

    types: tuple[str, ...]
    rule: str
    meaning: str

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": [*self.types], "description": self.meaning}

    def takes(self, value: Any) -> bool:
        """Whether the value has one of the types."""
        return isinstance(value, tuple(_TYPES[each] for each in self.types))


_TYPES: Final = {"string": str, "boolean": bool, "object": dict, "array": list, "null": NoneType}

_OF_FILE: Final = {
    "namespace": _Own(("string", "null"), "give a text", "The namespace of the jobs."),
    "labels": _Own(
        ("object", "null"), "give an object of texts", "Labels of each job. They mark what the file owns."
    ),
    "prefix": _Own(
        ("string", "null"), "give a text", "How each name begins. It marks what the file owns too."
    ),
    "defaults": _Own(
        ("object", "null"),
        "give an object with fields of jobs",
        "Fields of each job that does not have them.",
    ),
    "jobs": _Own(("array",), "give a list", "The jobs, each with its name and the fields of the API."),
}
_PAUSED: Final = _Own(
    ("string", "boolean", "null"),
    "give a reason, true or false",
    "A reason or true pauses the job, and false resumes it. Without it a paused job stays paused.",
)


@dataclass(frozen=True, slots=True)
class DeclaredJob:
    """A job of a file. `paused`: a reason or True asks for a paused job, False for one that is not paused.

    With None a job stays as it is.
    """

    name: str
    definition: JobRequest
    paused: str | bool | None = None


@dataclass(frozen=True, slots=True)
class JobsFile:
    """What a file declares. `labels` and `prefix` mark the jobs that the file owns.

    Every job of the file has these labels, and its name begins with the prefix.
    """

    jobs: tuple[DeclaredJob, ...]
    namespace: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""

    @property
    def owns(self) -> bool:
        """Whether the file marks what it owns."""
        return bool(self.labels or self.prefix)


def read_jobs_file(text: str) -> JobsFile:
    """The jobs of a file. Raises InputError that names each wrong place by its line and JSON pointer."""
    value = _parsed(text)
    wrong: list[str] = []
    if not isinstance(value, dict) or not isinstance(value.get("jobs"), list):
        raise InputError("The file has no list `jobs`. Give jobs: and below it a job at each dash.")
    wrong += [
        f"/{name}: there is no such field; give {', '.join(_OF_FILE)}" for name in value.keys() - {*_OF_FILE}
    ]
    wrong += [f"/{name}: {own.rule}" for name, own in _OF_FILE.items() if not own.takes(value.get(name))]
    namespace, prefix = value.get("namespace"), value.get("prefix") or ""
    labels, defaults = value.get("labels") or {}, value.get("defaults") or {}
    if isinstance(labels, dict) and not all(isinstance(each, str) for each in labels.values()):
        wrong.append(f"/labels: {_OF_FILE['labels'].rule}")
    if isinstance(defaults, dict) and "name" in defaults:
        wrong.append("/defaults/name: give each job a name of its own")
    if not wrong:
        reader = _JobReader(labels, prefix, defaults)
        jobs = tuple(reader.read(at, each) for at, each in enumerate(value["jobs"]))
        wrong += reader.wrong
    if wrong:
        places = Places(text)
        said = (
            f"  {places.of(pointer)}: {why}" for pointer, _, why in (each.partition(": ") for each in wrong)
        )
        raise InputError("The file cannot be used:\n" + "\n".join(said))
    return JobsFile(jobs, namespace, labels, prefix)


class Places:
    """Where the parts of a file are, for people who have to mend them."""

    def __init__(self, text: str) -> None:
        """The text is that of a file that could be parsed."""
        self._root = yaml.compose(text, _Loader)

    def of(self, pointer: str) -> str:
        """The line of what a JSON pointer names, and the pointer. What is missing has the line around it."""
        return f"line {self._found(pointer)[0]}, {pointer}"

    def of_job(self, number: int, pointer: str) -> str:
        """The place of a pointer into the job of that number. A field may come from `defaults`."""
        own, default = f"/jobs/{number}{pointer}", f"/defaults{pointer}"
        is_default = pointer and not self._found(f"/jobs/{number}/{pointer.split('/')[1]}")[1]
        return (
            f"{self.of(own)} ({self.of(default)})" if is_default and self._found(default)[1] else self.of(own)
        )

    def _found(self, pointer: str) -> tuple[int, bool]:
        """The line of the deepest part of a pointer that the file has, and whether that is all of it."""
        node, line = self._root, 1
        for part in pointer.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            match node:
                case yaml.MappingNode():
                    pairs = ((key, value) for key, value in node.value if key.value == name)
                    key, node = next(pairs, (None, None))
                case yaml.SequenceNode() if name.isdecimal() and int(name) < len(node.value):
                    key = node = node.value[int(name)]
                case _:
                    key = None
            if key is None:
                return line, False
            line = key.start_mark.line + 1
        return line, True


def _parsed(text: str) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - _Loader makes only values of JSON
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark
        place = f" at line {at.line + 1}, column {at.column + 1}" if at else ""
        raise InputError(f"The file is not YAML: {error.problem}{place}.") from None
    except yaml.YAMLError as error:
        raise InputError(f"The file is not YAML: {error}") from None
    except RecursionError:
        raise InputError("The file is nested too deeply. The API takes 64 levels.") from None


class _JobReader:
    """Reads the jobs of one file, and keeps a sentence for each that is wrong."""

    def __init__(self, labels: Mapping[str, str], prefix: str, defaults: Mapping[str, Any]) -> None:
        self._labels = labels
        self._prefix = prefix
        self._defaults = defaults
        self._names: set[str] = set()
        self.wrong: list[str] = []

    def read(self, at: int, value: Any) -> DeclaredJob:
        if not isinstance(value, dict):
            self.wrong.append(f"/jobs/{at}: give an object, a job with its name")
            return DeclaredJob("", {})
        fields = {**self._defaults, **value}
        if _is_too_large(fields):
            said = f"give at most {_VALUES_MAX} values; what an alias names counts each time"
            self.wrong.append(f"/jobs/{at}: {said}")
            return DeclaredJob("", {})
        name, paused = fields.pop("name", None), fields.pop("paused", None)
        if not isinstance(name, str):
            self.wrong.append(f"/jobs/{at}/name: give the name of the job, a text")
            name = ""
        elif name in self._names:
            self.wrong.append(f"/jobs/{at}/name: an earlier job has the name {name}; give each name once")
        elif not name.startswith(self._prefix):
            self.wrong.append(f"/jobs/{at}/name: {name} does not begin with the file's prefix {self._prefix}")
        self._names.add(name)
        if not _PAUSED.takes(paused):
            self.wrong.append(f"/jobs/{at}/paused: {_PAUSED.rule}")
        if self._labels:
            own = fields.get("labels") or {}
            if not isinstance(own, dict):
                self.wrong.append(f"/jobs/{at}/labels: give an object of texts")
                own = {}
            fields["labels"] = {**own, **self._labels}
        return DeclaredJob(name, cast("JobRequest", fields), paused)


def _is_too_large(value: Any) -> bool:
    """Whether a value has more values in it than a job may have. Aliases of aliases can make billions."""
    left, count = [value], 0
    while left and count <= _VALUES_MAX:
        each = left.pop()
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        count += len(inner)
        left += inner
    return count > _VALUES_MAX


def jobs_schema(document: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a file of jobs, for editors. `document` is the OpenAPI document of a stack."""
    components = document["components"]["schemas"]

    def with_paused(name: str) -> dict[str, Any]:
        schema = components[name]
        return {**schema, "properties": {**schema["properties"], "paused": _PAUSED.schema}}

    fields = {name: own.schema for name, own in _OF_FILE.items()}
    fields["labels"] = components["JobRequest"]["properties"]["labels"] | {
        "description": _OF_FILE["labels"].meaning
    }
    fields["defaults"] = {
        "description": _OF_FILE["defaults"].meaning,
        "anyOf": [with_paused("JobRequest"), {"type": "null"}],
    }
    fields["jobs"]["items"] = with_paused("NamedJobRequest")
    used: dict[str, Any] = {}
    named = _references(fields)
    while named:
        name = named.pop()
        if name not in used:
            used[name] = components[name]
            named |= _references(used[name])
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The file of `sweephand apply`",
        "type": "object",
        "properties": fields,
        "required": ["jobs"],
        "additionalProperties": False,
        "components": {"schemas": dict(sorted(used.items()))},
    }


def _references(schema: Any) -> set[str]:
    return set(re.findall('"#/components/schemas/([^"]+)"', exact_json.write(schema)))


def write_jobs_file(file: JobsFile, notes: Mapping[str, list[str]]) -> str:
    """The YAML text of a file. `notes` are comments above the job of that name, or above all for ''."""
    lines = [f"# {_printable(each)}" for each in notes.get("", [])]
    head: dict[str, Any] = {} if file.namespace is None else {"namespace": file.namespace}
    if file.labels:
        head["labels"] = dict(file.labels)
    if file.prefix:
        head["prefix"] = file.prefix
    if head:
        lines += _yaml(head).rstrip("\n").split("\n")
    lines.append("jobs:" if file.jobs else "jobs: []")
    for job in file.jobs:
        lines += [f"  # {_printable(each)}" for each in notes.get(job.name, [])]
        fields = {"name": job.name, **job.definition}
        if job.paused is not None:
            fields["paused"] = job.paused
        first, *others = _yaml(fields).rstrip("\n").split("\n")
        lines += [f"  - {first}", *(f"    {each}" for each in others)]
    return "\n".join(lines) + "\n"


def _printable(text: str) -> str:
    """A text without characters that would end a comment of YAML, or that YAML refuses."""
    return "".join(each if each.isprintable() else "?" for each in text)


def _yaml(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    # A character that does not print stands between double quotes (`_text`). YAML takes this escape for it.
    return "".join(each if _prints(each) else f"\\U{ord(each):08x}" for each in text)


def _prints(character: str) -> bool:
    """Whether a character may stand in a file as it is. U+202E would show the file in another order."""
    return character.isprintable() or character == "\n"


class _Loader(yaml.SafeLoader):
    """Reads the JSON schema of YAML 1.2, with exact numbers. A name that occurs twice is an error.

    YAML 1.1 reads `no` as false, 12:30 as 750, and a date as no text. A job means what is written.
    """

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put what `<<` names into the object. Merges of merges can make billions of fields."""
        super().flatten_mapping(node)
        if len(node.value) > _VALUES_MAX:
            problem = f"the merges make more than {_VALUES_MAX} fields"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


class _Dumper(yaml.SafeDumper):
    """Writes what `_Loader` reads."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    loader.flatten_mapping(node)
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(None, None, "a name is not a text", key_node.start_mark)
        found[key] = loader.construct_object(value_node, deep=True)
    return found


def _unique(loader: _Loader, node: yaml.Node) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise yaml.constructor.ConstructorError(None, None, "expected a mapping node", node.start_mark)
    names: set[Any] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == f"{_TAGS}merge":
            continue
        if key.value in names:
            message = f"the name {key.value} stands twice"
            raise yaml.constructor.ConstructorError(None, None, message, key.start_mark)
        names.add(key.value)
    return _mapping(loader, node)


def _scalar(loader: _Loader, node: yaml.ScalarNode) -> Any:
    """A number, true, false or null. A tag that is written (`!!float .inf`) must fit its text."""
    text = str(loader.construct_scalar(node))
    pattern, _ = _CORE[_FLOAT if node.tag == _INT else node.tag]
    if not re.fullmatch(pattern, text):
        name = node.tag.removeprefix(_TAGS)
        raise yaml.constructor.ConstructorError(None, None, f"{text!r} is no {name} of JSON", node.start_mark)
    if node.tag == f"{_TAGS}bool":
        return text == "true"
    if node.tag == f"{_TAGS}null":
        return None
    return exact_json.integer(text) if text.removeprefix("-").isdecimal() else exact_json.fraction(text)


def _unknown(_: _Loader, node: yaml.Node) -> Any:
    name = node.tag.replace(_TAGS, "!!")
    problem = f"the tag {name} makes no value of JSON; leave it out"
    raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    # Only between double quotes can a character be escaped. YAML 1.1 takes some of them for line ends.
    style = None if all(map(_prints, value)) else '"'
    return dumper.represent_scalar(f"{_TAGS}str", value, style=style)


def _set_up() -> None:
    for kind in (_Loader, _Dumper):
        kind.yaml_implicit_resolvers = {}
        for tag, (pattern, first) in _CORE.items():
            kind.add_implicit_resolver(tag, re.compile(f"(?:{pattern})$"), list(first))
    kept = (f"{_TAGS}str", f"{_TAGS}seq")
    _Loader.yaml_constructors = {tag: yaml.SafeLoader.yaml_constructors[tag] for tag in kept}
    _Loader.add_constructor(None, _unknown)
    _Loader.add_constructor(f"{_TAGS}map", _unique)
    for name in ("int", "float", "bool", "null"):
        _Loader.add_constructor(f"{_TAGS}{name}", _scalar)
    _Dumper.add_representer(str, _text)
    for number in (Decimal, exact_json.Written):
        _Dumper.add_representer(
            number, lambda dumper, value: dumper.represent_scalar(_FLOAT, exact_json.write(value))
        )
    _Dumper.add_representer(int, lambda dumper, value: dumper.represent_scalar(_FLOAT, str(value)))


_set_up()
