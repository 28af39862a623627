"""The values of secrets that a target names, read for one attempt."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sweephand.access.repeated_secrets import RepeatedSecrets
from sweephand.base.errors import SweephandError
from sweephand.model.attempt import ANSWER_BYTES_KEPT
from sweephand.model.secret import ReadValues, scheme_of
from sweephand.model.signing_secret import ED25519_PREFIX, HMAC_PREFIX
from sweephand.targets.secret_refs import SecretRef, referred

#: So much of an answer is searched for secrets. It is twice what a run keeps of it. So enough is seen of a
#: secret that begins in what the run keeps.
ANSWER_BYTES_SEEN: Final = 2 * ANSWER_BYTES_KEPT


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

    def hidden_in(self, text: bytes, others: Iterable[str] = ()) -> bytes:
        """The beginning of a text of the consumer, without the values and the `others` that it repeats.

        It is longer than what a run keeps. Consumers repeat headers in their messages of errors.
        """
        values = (value for each in self._values.values() for value in each)
        shown = text[:ANSWER_BYTES_SEEN].decode(errors="surrogateescape")
        hidden = RepeatedSecrets([*values, *others]).hidden_in(shown, is_cut=True)
        return hidden.encode(errors="surrogateescape")
