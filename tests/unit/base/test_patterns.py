r"""Every regular expression of the code takes linear time, whatever text it is given.

The patterns are read from the source: the first argument of each call of a function of `re`. Python tries all
ways to match a text. So two neighbours that match the same characters, as in `\s*(?:{})?\s*`, can take
quadratic time, and nested repetitions exponential time.
"""

import ast
import importlib
import re
import string
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any, Final, NamedTuple

import pytest
from tests.fakes.probe import slowness

from sweephand.base.limits import BODY_BYTES_MAX
from sweephand.schedules.notations import aws, cron_fields
from sweephand.targets import eventbridge, target_type
from sweephand.targets.aws_resource import Resource
from sweephand.web.operations import OPERATIONS

ROOT: Final = Path(__file__).parents[3]
SOURCES: Final = (ROOT / "layers/sweephand/python", ROOT / "client")
METHODS: Final = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")

#: The lengths of hostile texts, and the CPU time for each in seconds. An exponential pattern takes longer for
#: one of the short texts, and a quadratic pattern for a long one.
LENGTHS: Final = (24, 48, 10_000)
CPU_S_MAX: Final = 0.05

#: The CPU time for a text of 1 MB.
LONG_CPU_S_MAX: Final = 0.5


class Used(NamedTuple):
    """A pattern, the method by which a module uses it, and its flags."""

    module: str
    method: str
    pattern: str
    flags: int = 0


def specials() -> list[str]:
    """The patterns of the days that depend on the month, of each field of both kinds of cron."""
    rules = [each for each in vars(cron_fields).values() if isinstance(each, cron_fields.FieldRule)]
    return sorted({pattern for rule in (*rules, *aws._RULES) for pattern in rule.specials})


def arns() -> list[str]:
    modules = [importlib.import_module(f"sweephand.targets.{name}") for name in ("sns", "eventbridge")]
    modules += [
        importlib.import_module(f"sweephand.targets.{name}") for name in ("lambda_function", "stepfunctions")
    ]
    return [
        each._pattern for module in modules for each in vars(module).values() if isinstance(each, Resource)
    ]


#: The patterns that are made at run time, by their module and the text of the argument. An empty list stands
#: for a pattern that an operator writes, or that Powertools writes.
AT_RUN_TIME: Final = {
    ("sweephand.schedules.notations.cron_fields", "pattern"): specials(),
    ("sweephand.targets.target_type", "pattern"): [target_type._GROUP_ID, eventbridge._TEXT, *arns()],
    ("sweephand.targets.reach", "re.escape(pattern).replace('\\\\*', '.*').replace('\\\\?', '.')"): [],
    ("sweephand.web.http.app", "rule"): [],
    ("sweephand.web.http.app", "base.format(''.join(made))"): [
        r"\A"
        + re.sub(r"{\w+}", "[^/]+", re.escape(each.path).replace(r"\{", "{").replace(r"\}", "}"))
        + r"\Z"
        for each in OPERATIONS
    ],
    ("sweephand_client.tasks.exact_yaml", "f'(?:{pattern})$'"): [
        r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)$"
    ],
    ("sweephand_client.tasks.exact_yaml", "pattern"): [
        r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
    ],
}


def used() -> Iterator[Used]:
    """Every use of a pattern in the sources."""
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            text = path.read_text()
            if "import re\n" in text:
                yield from _used_in(".".join(path.relative_to(source).with_suffix("").parts), ast.parse(text))


def _used_in(module: str, tree: ast.Module) -> Iterator[Used]:
    names = vars(importlib.import_module(module))
    calls = [
        (node.func.value.id, node.func.attr, node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.attr in (*METHODS, "compile")
    ]
    compiled = {name: each for name, each in names.items() if isinstance(each, re.Pattern)}
    for name, value in compiled.items():
        # A compiled pattern that only another module uses is tried in both ways that match once.
        for method in {attr for owner, attr, _ in calls if owner == name} or {"match", "fullmatch"}:
            yield Used(module, method, value.pattern, value.flags & ~re.UNICODE)
    made = {each.pattern for each in compiled.values()}
    for method, call in ((attr, node) for owner, attr, node in calls if owner == "re"):
        for pattern in _patterns(module, names, call.args[0]):
            if method != "compile" or pattern not in made:
                yield Used(module, "fullmatch" if method == "compile" else method, pattern, _flags(call))


def _patterns(module: str, names: Mapping[str, Any], argument: ast.expr) -> Sequence[str]:
    text = ast.unparse(argument)
    if (module, text) in AT_RUN_TIME:
        return AT_RUN_TIME[module, text]
    return [eval(text, dict(names))]  # noqa: S307 - it is the source of the module


def _flags(call: ast.Call) -> int:
    """The flags of a call. They are written as attributes of `re`."""
    written = [each.attr for each in call.args if isinstance(each, ast.Attribute)]
    return sum(getattr(re, name) for name in written if isinstance(getattr(re, name, None), re.RegexFlag))


USED: Final = sorted(set(used()))


def hostile(pattern: str, flags: int, length: int) -> Iterator[str]:
    """Texts of that length that come to each repetition of the pattern and fill it, and then do not match."""
    tree = re._parser.parse(pattern, flags)  # type: ignore[attr-defined]
    alphabet = sorted(set(_characters(tree)) | set(" \ta0"))
    for prefix, bodies in _repetitions(tree, ""):
        for pump in dict.fromkeys([*bodies, *alphabet]):
            for tail in ("", "\x00"):
                yield prefix + pump * (length // len(pump)) + tail


def _repetitions(tree: Any, prefix: str) -> Iterator[tuple[str, list[str]]]:
    """What comes before each repetition, and examples of what it repeats."""
    yield prefix, []
    for node in tree:
        for inner in _inner(node):
            yield from _repetitions(inner, prefix)
        if node[0].name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield prefix, [each for each in _examples(node[1][2]) if each]
        prefix += next(_examples([node]))


def _inner(node: Any) -> list[Any]:
    name, value = node[0].name, node[1]
    if name == "BRANCH":
        return list(value[1])
    if name in ("SUBPATTERN", "MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT", "ASSERT", "ASSERT_NOT"):
        return [value[-1]]
    if name == "ATOMIC_GROUP":
        return [value]
    if name == "GROUPREF_EXISTS":
        return [each for each in value[1:] if each is not None]
    return []


def _examples(tree: Any) -> Iterator[str]:
    """Texts that match a part of a pattern, the shortest first: one for each character that it may hold."""
    texts = [""]
    for node in tree:
        name, value = node[0].name, node[1]
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            found = [each * value[0] for each in _examples(value[2])]
        elif name == "BRANCH":
            found = [each for branch in value[1] for each in _examples(branch)]
        elif name in ("ASSERT", "ASSERT_NOT", "AT"):
            found = [""]
        elif inner := _inner(node):
            found = list(_examples(inner[0]))
        else:
            found = list(_characters([node])) or [""]
        texts = [texts[0] + each for each in found] + [each + found[0] for each in texts[1:]]
    yield from texts[:20]


def _characters(tree: Any) -> Iterator[str]:
    """Characters that stand for each literal and class of a pattern."""
    for node in tree:
        name, value = node[0].name, node[1]
        if name == "LITERAL":
            yield chr(value)
        elif name in ("NOT_LITERAL", "ANY"):
            yield "a" if value != ord("a") else "b"
        elif name == "IN":
            yield from _of_class(value)
        for inner in _inner(node):
            yield from _characters(inner)


def _of_class(parts: Any) -> list[str]:
    listed: list[str] = []
    for part in parts:
        if part[0].name == "LITERAL":
            listed.append(chr(part[1]))
        elif part[0].name == "RANGE":
            listed += [chr(part[1][0]), chr(part[1][1])]
        elif part[0].name == "CATEGORY":
            listed += {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " \t\n\xa0", "CATEGORY_WORD": "a0_"}.get(
                part[1].name, "-a"
            )
    if parts[0][0].name != "NEGATE":
        return listed
    outside = [each for each in string.printable + "é\u2028" if each not in listed]
    return outside[:3] + outside[-12:]


def cpu_s(each: Used, text: str) -> float:
    compiled = re.compile(each.pattern, each.flags)
    method = getattr(compiled, each.method)
    began_s = process_time()
    if each.method == "sub":
        method("", text)
    elif each.method == "finditer":
        deque(method(text), maxlen=0)
    else:
        method(text)
    return process_time() - began_s


@pytest.mark.sampled(3)
@pytest.mark.parametrize("each", USED, ids=lambda each: f"{each.module}-{each.method}-{each.pattern[:30]!a}")
def test_a_pattern_takes_linear_time(each: Used) -> None:
    slowest = (0.0, 0)
    for length in LENGTHS:
        for number, text in enumerate(hostile(each.pattern, each.flags, length)):
            took_s = cpu_s(each, text)
            if took_s > CPU_S_MAX:  # other work of the machine can only add
                took_s = min(took_s, cpu_s(each, text)) / slowness()
            assert took_s < CPU_S_MAX, f"{took_s} s for {text[:40]!a}…{text[-10:]!a}"
            slowest = max(slowest, (took_s, number))
    long = next(islice(hostile(each.pattern, each.flags, BODY_BYTES_MAX), slowest[1], None))
    assert any(cpu_s(each, long) < LONG_CPU_S_MAX * slowness() for _ in range(5))


@pytest.mark.parametrize(
    "pattern",
    [r"\s*(?:\{\s*\})?\s*", r"(?:a+b?)+c", r"[a-z]*[a-m]*\d", r"(?:a|b|ab)*=(?:a?)*"],
)
def test_a_pattern_that_takes_longer_is_found(pattern: str) -> None:
    each = Used("test", "fullmatch", pattern)
    texts = (text for length in LENGTHS for text in hostile(pattern, 0, length))
    assert any(cpu_s(each, text) > CPU_S_MAX for text in texts)


def test_every_use_of_a_pattern_in_the_sources_is_tried() -> None:
    lines = sum(
        len(
            re.findall(
                r"\bre\.(?:compile|match|fullmatch|search|sub|split|findall|finditer)\(", path.read_text()
            )
        )
        for source in SOURCES
        for path in source.rglob("*.py")
    )
    assert len(USED) >= lines - len([each for each in AT_RUN_TIME.values() if not each])
