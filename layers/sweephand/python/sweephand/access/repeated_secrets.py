"""Finding secrets that a consumer repeats, in whatever writing, and hiding them from those who read runs."""

import json
import re
from base64 import b64decode
from binascii import Error as Base64Error
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from typing import Final, NamedTuple

#: What stands where a text repeated a secret.
HIDDEN: Final = "[secret]"

#: A shorter value is not hidden, because a text would have it by chance. An end of a text that was cut within
#: a value needs as many characters of it.
LENGTH_MIN: Final = 4

#: A shorter part of a value is not secret: the scheme in `Bearer …`, the name in `key=…`.
PART_LENGTH_MIN: Final = 8

#: What separates the parts of a value: blanks, and the marks of cookies, parameters and quoted texts.
_SEPARATORS: Final = r"[\s=,;:\"'&<>()\[\]{}|]+"

#: Credentials of HTTP's scheme Basic (RFC 7617): the base64 of user, colon and password.
_BASIC: Final = r"(?i:basic) +([A-Za-z0-9+/_=-]+)"

#: The prefixes of secrets that sign. Some consumers keep a secret without its prefix.
_PREFIX: Final = r"(?:whsec|whsk)_"

#: An escape as JSON (RFC 8259, 7), URLs and forms (RFC 3986, 2.1) and HTML write it.
_ESCAPE: Final = (
    r'\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt]|%[0-9A-Fa-f]{2}'
    r"|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"
)

#: The beginning of an escape at the end of a text that was cut.
_CUT_ESCAPE: Final = r"(?:\\(?:u[0-9A-Fa-f]{0,3})?|%[0-9A-Fa-f]?|&#?[0-9A-Za-z]{0,8})\Z"

#: How often a text is decoded: JSON can stand in JSON, and HTML in that.
_DECODINGS_MAX: Final = 3

#: A form writes a space as a plus. So the two count as one character.
_FORM: Final = str.maketrans("+", " ")

#: A JSON string, or another scalar, in a valid JSON text.
_SCALAR: Final = r'"(?:[^"\\]|\\.)*"|[^\s"\[\]{},:]+'

#: Sets of secrets whose index one process keeps.
_INDEXES_MAX: Final = 256


class _Index(NamedTuple):
    """What is looked for: in order, and its lengths by its first LENGTH_MIN characters, the longest first."""

    needles: Sequence[str]
    known: frozenset[str]
    lengths: "dict[str, list[int]]"


class RepeatedSecrets:
    """Hides secrets in texts. `values` are secret as a whole and in their longer parts.

    What is shorter than LENGTH_MIN stays, and so do parts that are shorter than PART_LENGTH_MIN.
    """

    def __init__(self, values: Iterable[str]) -> None:
        self._index = _index_of(frozenset(values))

    def hidden_in(self, text: str, *, is_cut: bool = False) -> str:
        """The text with HIDDEN in place of each secret, however JSON, HTML, a URL or a form writes it.

        If the text `is_cut`, it may end within a secret, and that beginning is hidden too. The time that this
        takes grows with the length of the text, and hardly with the number of secrets.
        """
        if not self._index.needles:
            return text
        spans: list[tuple[int, int]] = []
        for layer in _layers(text):
            plain = layer.text.translate(_FORM)
            spans += (layer.span(start, end) for start, end in self._found(plain))
            if is_cut:
                spans += self._cut_off(layer, plain, len(text))
        return _rendered(text, spans)

    def hidden_in_json(self, text: str) -> str:
        """The same in the strings of a valid JSON text, which stays valid. A number becomes a string."""

        def hidden(found: re.Match[str]) -> str:
            scalar = found[0]
            if scalar.startswith('"'):
                # Read first: a secret that is found within an escape of JSON would leave half of it.
                said = json.loads(scalar)
                shown = self.hidden_in(said)
                return scalar if shown == said else json.dumps(shown, ensure_ascii=False)
            return scalar if self.hidden_in(scalar) == scalar else f'"{HIDDEN}"'

        return re.sub(_SCALAR, hidden, text)

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        _, known, lengths = self._index
        for start in range(len(text) - LENGTH_MIN + 1):
            for length in lengths.get(text[start : start + LENGTH_MIN], ()):
                end = start + length
                if end <= len(text) and text[start:end] in known:
                    yield start, end
                    break

    def _cut_off(self, layer: "_Layer", text: str, end: int) -> Iterator[tuple[int, int]]:
        """Where the beginning of a secret begins with which a text ends, as a span of the whole text."""
        needles = self._index.needles
        for shown in {text, re.sub(_CUT_ESCAPE, "", text)}:
            for start in range(max(0, len(shown) - max(map(len, needles))), len(shown) - LENGTH_MIN + 1):
                tail = shown[start:]
                place = bisect_left(needles, tail)
                if place < len(needles) and needles[place].startswith(tail):
                    yield layer.places[start], end
                    break


class _Layer(NamedTuple):
    """A text that was decoded.

    `places` has where each of its characters begins in the whole text, and then where that ends.
    """

    text: str
    places: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The part of the whole text that was decoded to that part of this one."""
        return self.places[start], self.places[end]


def _layers(text: str) -> Iterator[_Layer]:
    """The text as it is, and as it is after each decoding that changes it."""
    layer = _Layer(text, range(len(text) + 1))
    yield layer
    for _ in range(_DECODINGS_MAX):
        decoded: list[str] = []
        places: list[int] = []
        done = 0
        for found in re.finditer(_ESCAPE, layer.text):
            made = _unescaped(found[0])
            if made == found[0]:
                continue
            decoded += (layer.text[done : found.start()], made)
            places += layer.places[done : found.start()]
            places += [layer.places[found.start()]] * len(made)
            done = found.end()
        if not done:
            return
        decoded.append(layer.text[done:])
        places += layer.places[done:]
        layer = _Layer("".join(decoded), places)
        yield layer


def _unescaped(escape: str) -> str:
    if escape.startswith("&"):
        return unescape(escape)
    if escape.startswith(("%", "\\u")):
        return chr(int(escape.lstrip("%\\u"), 16))
    return {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.get(escape[1:], escape[1:])


def _rendered(text: str, spans: list[tuple[int, int]]) -> str:
    shown: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            shown += (text[done:start], HIDDEN)
        done = max(done, end)
    return "".join([*shown, text[done:]])


@lru_cache(_INDEXES_MAX)
def _index_of(values: frozenset[str]) -> _Index:
    written = {part for value in values for part in _parts_of(value)}
    # A value may itself look like an escape: then a text that was decoded has the value decoded.
    texts = {layer.text.translate(_FORM) for each in written for layer in _layers(each)}
    needles = {text for text in texts if len(text) >= LENGTH_MIN}
    lengths: dict[str, set[int]] = {}
    for needle in needles:
        lengths.setdefault(needle[:LENGTH_MIN], set()).add(len(needle))
    return _Index(
        sorted(needles),
        frozenset(needles),
        {prefix: sorted(found, reverse=True) for prefix, found in lengths.items()},
    )


def _parts_of(value: str) -> Iterator[str]:
    """A value, its longer parts, and the password of Basic with the user."""
    yield value
    yield re.sub(_PREFIX, "", value)
    parts = (*value.split(), *re.split(_SEPARATORS, value))
    yield from (each for each in parts if len(each) >= PART_LENGTH_MIN)
    if (basic := re.fullmatch(_BASIC, value)) is not None:
        digits = basic[1].rstrip("=").translate(str.maketrans("-_", "+/"))
        try:
            credentials = b64decode(digits + "=" * (-len(digits) % 4)).decode()
        except (Base64Error, UnicodeDecodeError):
            return
        user, _, password = credentials.partition(":")
        yield from (credentials, password)
        if len(user) >= PART_LENGTH_MIN:
            yield user
