"""Reads and writes YAML 1.2 with exact numbers, and so JSON too."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import yaml

from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError

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
VALUES_MAX: Final = 262_144


def parsed(text: str) -> Any:
    """The value of a file. Raises InputError that says where the text is no YAML, and what is wrong."""
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


def printable(text: str) -> str:
    """A text without characters that would end a comment of YAML, or that YAML refuses."""
    return "".join(each if each.isprintable() else "?" for each in text)


def yaml_text(value: Any) -> str:
    """The text of a value, which `parsed` reads."""
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
        if len(node.value) > VALUES_MAX:
            problem = f"the merges make more than {VALUES_MAX} fields"
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
