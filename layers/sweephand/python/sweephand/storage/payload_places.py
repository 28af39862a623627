"""Payloads in several places: written to the first, and read from all (decision 058)."""

from collections.abc import Sequence

from sweephand.ports.jobs import PayloadPlace


class PayloadsInPlaces:
    """ports.PayloadStore over several places. A payload has the same uid and ref in each of them."""

    def __init__(self, places: Sequence[PayloadPlace]) -> None:
        self._places = places

    def put(self, uid: str, ref: str, text: str) -> None:
        """Keep the payload in the first place."""
        self._places[0].put(uid, ref, text)

    def get(self, uid: str, ref: str) -> str | None:
        """The payload from the first place that has it.

        StoreError if a place before that one did not answer: the payload may be there.
        """
        texts = (each.get(uid, ref) for each in self._places)
        return next((text for text in texts if text is not None), None)

    def discard(self, uid: str, ref: str) -> bool:
        """Discard the payload in the first place that has it.

        A copy in a later place was discarded when the audit moved the payload. If it was not, the audit
        discards it.
        """
        return any(each.discard(uid, ref) for each in self._places)

    def renew(self, uid: str, ref: str) -> bool:
        """Renew the payload in the first place in which it expires."""
        return any(each.renew(uid, ref) for each in self._places)
