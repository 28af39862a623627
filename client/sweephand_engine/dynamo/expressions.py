"""Reads the expressions of DynamoDB that Sweephand uses: conditions, key conditions and updates.

The meaning is that of the Amazon DynamoDB developer guide ("Expressions"). Any other expression raises
AssertionError, because a client that guesses proves nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

#: The value of an attribute in DynamoDB's JSON: `{"S": "text"}`.
Value: TypeAlias = Mapping[str, Any]
Attributes: TypeAlias = Mapping[str, Value]

_PLACEHOLDER: Final = re.compile(r"[#:][A-Za-z0-9_]+")
_TOKEN: Final = re.compile(r"\s*([#:][A-Za-z0-9_]+|<>|<=|>=|[()<>=,]|[A-Za-z_]+)")
_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


@dataclass(frozen=True, slots=True)
class Words:
    """The meaning of the placeholders of one request: `#0` stands for a name, `:0` for a value."""

    names: Mapping[str, str]
    values: Mapping[str, Value]

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> "Words":
        """The placeholders of a request.

        Raises AssertionError unless its expressions use each of them, and no others, as DynamoDB requires.
        """
        words = cls(said.get("ExpressionAttributeNames", {}), said.get("ExpressionAttributeValues", {}))
        used = _placeholders(" ".join(text for name, text in said.items() if name.endswith("Expression")))
        given = words.names.keys() | words.values.keys()
        assert given == used, f"ValidationException: {sorted(given ^ used)} are not both defined and used"
        return words

    def name(self, placeholder: str) -> str:
        """The attribute that a `#0` stands for."""
        return self.names[placeholder]

    def value(self, placeholder: str) -> Value:
        """The value that a `:0` stands for."""
        return self.values[placeholder]


@lru_cache(maxsize=256)
def _placeholders(texts: str) -> frozenset[str]:
    return frozenset(_PLACEHOLDER.findall(texts))


#: Whether an item meets a condition. A missing item is an empty one.
Condition: TypeAlias = Callable[[Words, Attributes], bool]

#: Changes the attributes of an item in place.
Update: TypeAlias = Callable[[Words, dict[str, Value]], None]


@dataclass(frozen=True, slots=True)
class Range:
    """A range of sort keys in one partition. Each bound may belong to the range or not."""

    partition: str
    low: str = ""
    high: str | None = None
    with_low: bool = True
    with_high: bool = True

    def __contains__(self, key: str) -> bool:
        """Whether a sort key is in the range."""
        above = key > self.low or (self.with_low and key == self.low)
        return above and (self.high is None or key < self.high or (self.with_high and key == self.high))


class _Text:
    """The tokens of an expression. The parser takes one after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0

    def peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        assert token, f"more expected after {self._text!r}"
        assert wanted in (None, token), f"{wanted!r} expected at {token!r} of {self._text!r}"
        self._next += 1
        return token

    def takes(self, wanted: str) -> bool:
        if self.peek() != wanted:
            return False
        self._next += 1
        return True

    def placeholder(self, mark: str) -> str:
        token = self.take()
        assert token.startswith(mark), f"{token!r} is unknown to this client, in {self._text!r}"
        return token

    def end(self) -> None:
        assert not self.peek(), f"{self.peek()!r} is unknown to this client, in {self._text!r}"


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match, f"{text[position:]!r} is unknown to this client"
        yield match[1]
        position = match.end()


@lru_cache(maxsize=256)
def condition(text: str) -> Condition:
    """The condition of a ConditionExpression."""
    tokens = _Text(text)
    read = _any_of(tokens)
    tokens.end()
    return read


def _any_of(text: _Text) -> Condition:
    parts = [_all_of(text)]
    while text.takes("OR"):
        parts.append(_all_of(text))
    return lambda words, item: any(part(words, item) for part in parts)


def _all_of(text: _Text) -> Condition:
    parts = [_one(text)]
    while text.takes("AND"):
        parts.append(_one(text))
    return lambda words, item: all(part(words, item) for part in parts)


def _one(text: _Text) -> Condition:
    if text.takes("NOT"):
        denied = _one(text)
        return lambda words, item: not denied(words, item)
    if text.takes("("):
        inner = _any_of(text)
        text.take(")")
        return inner
    if text.peek() in ("attribute_exists", "attribute_not_exists"):
        return _existence(text)
    return _comparison(text)


def _existence(text: _Text) -> Condition:
    wanted = text.take() == "attribute_exists"
    text.take("(")
    name = text.placeholder("#")
    text.take(")")
    return lambda words, item: (words.name(name) in item) is wanted


def _comparison(text: _Text) -> Condition:
    name, operator = text.placeholder("#"), text.take()
    if operator == "IN":
        return _membership(text, name)
    value = text.placeholder(":")
    if operator == "=":
        return lambda words, item: item.get(words.name(name)) == words.value(value)
    if operator == "BETWEEN":
        text.take("AND")
        low, high = _ordered(name, ">=", value), _ordered(name, "<=", text.placeholder(":"))
        return lambda words, item: low(words, item) and high(words, item)
    return _ordered(name, operator, value)


def _ordered(name: str, operator: str, value: str) -> Condition:
    assert operator in _ORDERS, f"{operator!r} is unknown to this client"
    holds = _ORDERS[operator]

    def compared(words: Words, item: Attributes) -> bool:
        left, right = item.get(words.name(name)), words.value(value)
        # A missing attribute and one of another type are neither less nor greater.
        return left is not None and left.keys() == right.keys() and holds(_plain(left), _plain(right))

    return compared


def _membership(text: _Text, name: str) -> Condition:
    text.take("(")
    placeholders = [text.placeholder(":")]
    while text.takes(","):
        placeholders.append(text.placeholder(":"))
    text.take(")")
    return lambda words, item: item.get(words.name(name)) in [words.value(each) for each in placeholders]


def _plain(value: Value) -> int | str:
    [(kind, content)] = value.items()
    assert kind in ("S", "N"), f"{kind} has no order known to this client"
    return int(content) if kind == "N" else str(content)


@lru_cache(maxsize=256)
def update(text: str) -> Update:
    """The update of an UpdateExpression."""
    tokens = _Text(text)
    clauses: list[Update] = []
    while tokens.peek():
        kind = tokens.take()
        assert kind in ("SET", "REMOVE", "ADD"), f"{kind!r} is unknown to this client, in {text!r}"
        clauses.append(_change(tokens, kind))
        while tokens.takes(","):
            clauses.append(_change(tokens, kind))

    def apply(words: Words, item: dict[str, Value]) -> None:
        for clause in clauses:
            clause(words, item)

    return apply


def _change(text: _Text, kind: str) -> Update:
    name = text.placeholder("#")
    if kind == "REMOVE":
        return lambda words, item: _void(item.pop(words.name(name), None))
    if kind == "SET":
        text.take("=")
        value = _operand(text)
        return lambda words, item: item.update({words.name(name): value(words, item)})
    amount = text.placeholder(":")

    def add(words: Words, item: dict[str, Value]) -> None:
        before, added = item.get(words.name(name), {"N": "0"}), words.value(amount)
        item[words.name(name)] = {"N": str(int(before["N"]) + int(added["N"]))}

    return add


def _operand(text: _Text) -> Callable[[Words, Attributes], Value]:
    """The operand of SET: a value, or if_not_exists (the stored value of an attribute, else a value)."""
    if not text.takes("if_not_exists"):
        value = text.placeholder(":")
        return lambda words, _: words.value(value)
    text.take("(")
    name = text.placeholder("#")
    text.take(",")
    otherwise = text.placeholder(":")
    text.take(")")
    return lambda words, item: item.get(words.name(name), words.value(otherwise))


def _void(_: object) -> None:
    return None


class _KeyCondition(NamedTuple):
    """The parts of a KeyConditionExpression: the placeholders of its names and values, and its operator."""

    partition_name: str
    partition: str
    sort_name: str = ""
    operator: str = ""
    bound: str = ""
    high: str = ""


def key_range(text: str, words: Words) -> Range:
    """The range of a KeyConditionExpression: one partition, and perhaps a range of its sort keys."""
    asked = _key_condition(text)
    assert words.name(asked.partition_name) == "pk", "a query must name its partition first"
    partition = _text_of(words, asked.partition)
    if not asked.sort_name:
        return Range(partition)
    assert words.name(asked.sort_name) == "sk", "only the sort key can narrow a query"
    bound, operator = _text_of(words, asked.bound), asked.operator
    match operator:
        case "BETWEEN":
            high = _text_of(words, asked.high)
            assert bound <= high, "ValidationException: BETWEEN needs its lower bound first"
            return Range(partition, bound, high)
        case "=":
            return Range(partition, bound, bound)
        case ">" | ">=":
            return Range(partition, bound, with_low=operator == ">=")
        case "<" | "<=":
            return Range(partition, high=bound, with_high=operator == "<=")
        case _:
            raise AssertionError(f"{operator!r} is unknown to this client")


@lru_cache(maxsize=256)
def _key_condition(text: str) -> _KeyCondition:
    tokens = _Text(text)
    is_wrapped = tokens.takes("(")
    partition_name = tokens.placeholder("#")
    tokens.take("=")
    found = _KeyCondition(partition_name, tokens.placeholder(":"))
    if tokens.takes("AND"):
        sort_name, operator, bound = tokens.placeholder("#"), tokens.take(), tokens.placeholder(":")
        high = ""
        if operator == "BETWEEN":
            tokens.take("AND")
            high = tokens.placeholder(":")
        found = found._replace(sort_name=sort_name, operator=operator, bound=bound, high=high)
    if is_wrapped:
        tokens.take(")")
    tokens.end()
    return found


def _text_of(words: Words, placeholder: str) -> str:
    text: str = words.value(placeholder)["S"]
    assert text, "ValidationException: a key must not be empty"
    return text
