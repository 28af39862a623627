"""Reads and writes files of jobs, which `apply` takes: YAML 1.2, and so JSON too."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Final, NamedTuple, cast

from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.http.transport import NAME, NAME_RULE
from sweephand_client.openapi.requests import JobRequest
from sweephand_client.tasks.exact_yaml import VALUES_MAX, Places, parsed, printable, yaml_text
from sweephand_client.tasks.resources import RESOURCES, Resource


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
    **{
        each.field: _Own(
            ("object", "null"),
            f"give an object with a {each.kind} at each name"
            if each.has_names
            else f"give an object with the {each.kind}",
            f"{each.meaning} They are written before the jobs.",
        )
        for each in RESOURCES
    },
    "jobs": _Own(("array",), "give a list", "The jobs, each with its name and the fields of the API."),
}
_PAUSED: Final = _Own(
    ("string", "boolean", "null"),
    "give a reason, true or false",
    "A reason or true pauses the job, and false resumes it. Without it a paused job stays paused.",
)


#: The label by which a job names the file that owns it.
OWNER_LABEL: Final = "sweephand-file"

_TOO_LARGE: Final = f"give at most {VALUES_MAX} values; what an alias names counts each time"


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

    Every job of the file has these labels, and its name begins with the prefix. `resources` has the bodies of
    each field of RESOURCES by their names. None in the place of a body is one to delete. `name` is that of
    the file itself.
    """

    jobs: tuple[DeclaredJob, ...]
    namespace: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    resources: Mapping[str, Mapping[str, Mapping[str, Any] | None]] = field(default_factory=dict)
    name: str = ""

    @property
    def owns(self) -> bool:
        """Whether the file marks what it owns."""
        return bool(self.labels or self.prefix)

    @property
    def owner(self) -> str:
        """Who owns the jobs that the file writes: its marks, or else its name. Empty if it has neither."""
        marks = [f"{name}={value}" for name, value in sorted(self.labels.items())]
        return ",".join([*marks, *([f"{self.prefix}*"] if self.prefix else [])]) or self.name

    def bodies(self, field: str) -> dict[str, Mapping[str, Any]]:
        """The resources that the file declares in that field, by name."""
        found = self.resources.get(field, {})
        return {name: body for name, body in found.items() if body is not None}


def read_jobs_file(text: str, name: str = "") -> JobsFile:
    """The jobs of a file of that name. Raises InputError that names each wrong place by line and pointer."""
    value = parsed(text)
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
    resources = {each.field: _bodies(each, value.get(each.field)) for each in RESOURCES}
    for resource in RESOURCES:
        wrong += _wrong_bodies(resource, resources[resource.field])
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
    used = {name: each for name, each in resources.items() if each}
    return JobsFile(jobs, namespace, labels, prefix, used, name)


def _bodies(resource: Resource, value: Any) -> dict[str, Any]:
    """The bodies of one field of the file by their names; empty if its type is wrong."""
    if not isinstance(value, dict):
        return {}
    return value if resource.has_names else {"": value}


def _wrong_bodies(resource: Resource, bodies: Mapping[str, Any]) -> Iterator[str]:
    for name, body in bodies.items():
        at = resource.pointer(name)
        if resource.has_names and not NAME.fullmatch(name):
            yield f"{at}: give its name {NAME_RULE}"
        if body is not None and not isinstance(body, dict):
            yield f"{at}: give an object with the fields of a {resource.kind}"
        elif _is_too_large(body):
            yield f"{at}: {_TOO_LARGE}"


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
            self.wrong.append(f"/jobs/{at}: {_TOO_LARGE}")
            return DeclaredJob("", {})
        name, paused = fields.pop("name", None), fields.pop("paused", None)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            self.wrong.append(f"/jobs/{at}/name: give the name of the job, a text: {NAME_RULE}")
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
        if isinstance(fields.get("labels"), dict) and OWNER_LABEL in fields["labels"]:
            self.wrong.append(f"/jobs/{at}/labels/{OWNER_LABEL}: apply writes this label; leave it out")
        return DeclaredJob(name, cast("JobRequest", fields), paused)


def _is_too_large(value: Any) -> bool:
    """Whether a value has more values in it than a job may have. Aliases of aliases can make billions."""
    left, count = [value], 0
    while left and count <= VALUES_MAX:
        each = left.pop()
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        count += len(inner)
        left += inner
    return count > VALUES_MAX


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
    for each in RESOURCES:
        body = {"anyOf": [{"$ref": f"#/components/schemas/{each.request.__name__}"}, {"type": "null"}]}
        if each.has_names:
            fields[each.field]["additionalProperties"] = body
        else:
            fields[each.field] = {"description": fields[each.field]["description"], **body}
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
    lines = [f"# {printable(each)}" for each in notes.get("", [])]
    head: dict[str, Any] = {} if file.namespace is None else {"namespace": file.namespace}
    if file.labels:
        head["labels"] = dict(file.labels)
    if file.prefix:
        head["prefix"] = file.prefix
    if head:
        lines += yaml_text(head).rstrip("\n").split("\n")
    lines.append("jobs:" if file.jobs else "jobs: []")
    for job in file.jobs:
        lines += [f"  # {printable(each)}" for each in notes.get(job.name, [])]
        fields = {"name": job.name, **job.definition}
        if job.paused is not None:
            fields["paused"] = job.paused
        first, *others = yaml_text(fields).rstrip("\n").split("\n")
        lines += [f"  - {first}", *(f"    {each}" for each in others)]
    return "\n".join(lines) + "\n"
