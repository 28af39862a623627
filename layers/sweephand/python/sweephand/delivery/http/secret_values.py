"""The values of secrets that a target names: read for one attempt, and kept out of what the run stores."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final
from urllib.parse import quote

from sweephand.base.errors import SweephandError
from sweephand.model.secret import ReadValues, scheme_of
from sweephand.model.signing_secret import ED25519_PREFIX, HMAC_PREFIX
from sweephand.targets.secret_refs import SecretRef, referred

#: What a run shows where a consumer's answer repeated a value.
HIDDEN: Final = b"[secret]"

#: A shorter part of a value, such as the scheme in `Bearer …`, is not secret.
_PART_LENGTH_MIN: Final = 8

#: An answer can end within a value. An end that has fewer characters of it tells nothing.
_CUT_LENGTH_MIN: Final = 4


class UnusableSecretError(SweephandError):
    """A target names a secret that does not exist or cannot sign. The message names the secret."""


class SecretValues:
    """The values of the secrets that an attempt's target names. Each has one value at least, newest first."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._values = values

    @classmethod
    def read(cls, namespace: str, refs: Sequence[SecretRef], read: ReadValues | None) -> "SecretValues":
        """The values of those secrets. Raises UnusableSecretError, and StoreError if they cannot be read."""
        found = {} if read is None else read(namespace, {each.name for each in refs})
        missing = [each for each in refs if not found.get(each.name)]
        if missing:
            raise UnusableSecretError(
                f"There is no secret {missing[0].name} in namespace {namespace}, and the target's "
                f"{missing[0].pointer} names it. Create the secret, then redrive this run."
            )
        unfit = [each.name for each in refs if each.must_sign and scheme_of(found[each.name][0]) is None]
        if unfit:
            raise UnusableSecretError(
                f"The secret {unfit[0]} in namespace {namespace} cannot sign. Give it a value that begins "
                f"with {HMAC_PREFIX} or {ED25519_PREFIX}, then redrive this run."
            )
        return cls(found)

    def signing(self, name: str) -> tuple[str, ...]:
        """The values of a secret that signs, newest first."""
        return tuple(self._values[name])

    def text(self, value: Any) -> str | None:
        """The value of the secret to which a header's value refers; None if it refers to none."""
        name = referred(value)
        return None if name is None else self._values[name][0]

    def hidden_in(self, text: bytes) -> bytes:
        """A text of the consumer without the values that it repeats. At most the text's end is shorter.

        Consumers repeat headers in their messages of errors, and the run keeps these.
        """
        for form in self._forms():
            text = text.replace(form, HIDDEN)
            cut = next(
                (
                    length
                    for length in range(min(len(form) - 1, len(text)), _CUT_LENGTH_MIN - 1, -1)
                    if text.endswith(form[:length])
                ),
                0,
            )
            if cut:
                text = text[:-cut] + HIDDEN
        return text

    def _forms(self) -> list[bytes]:
        """Every form in which a text may repeat a value, the longest first."""
        forms = {form for values in self._values.values() for value in values for form in _forms_of(value)}
        return sorted(forms, key=len, reverse=True)


def _forms_of(value: str) -> Iterator[bytes]:
    """A value and its longer words, plain and as JSON, HTML and URLs write them."""
    words = (each for each in value.split() if len(each) >= _PART_LENGTH_MIN)
    for text in {value, *words}:
        for form in (text, json.dumps(text)[1:-1], escape(text), quote(text), quote(text, safe="")):
            yield form.encode()
