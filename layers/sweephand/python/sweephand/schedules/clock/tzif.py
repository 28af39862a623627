"""Which changes of offset a zone's file lists, and whether a rule for all later years follows them.

Reference: RFC 9636, the Time Zone Information Format. This module reads the second data block of a file of
version 2 or later, which has instants of 64 bits, and the footer.
"""

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

#: Magic and version, then the numbers of UT and standard indicators, leap seconds, instants, types, letters.
_HEADER: Final = struct.Struct(">4sc15x6l")
_TYPE: Final = struct.Struct(">lbB")


class Transition(NamedTuple):
    """A change of offset: `after_s` applies from the instant `at_s` (epoch seconds) on."""

    at_s: int
    before_s: int
    after_s: int


class ZoneTransitions(NamedTuple):
    """The changes that a zone's file lists, ascending, up to `until_s` (epoch seconds; None without any).

    `goes_on` says that a rule changes the clock in all later years, too.
    """

    changes: tuple[Transition, ...]
    until_s: int | None
    goes_on: bool


def read_tzif(data: bytes) -> ZoneTransitions:
    """The transitions of a file. The file comes with the package, so a bad one is a broken installation."""
    _, version, *counts = _HEADER.unpack_from(data)
    assert version >= b"2", "the packaged zones have instants of 64 bits"
    at = _HEADER.size + _block_size(counts, instant_size=4)
    _, _, *counts = _HEADER.unpack_from(data, at)
    at += _HEADER.size
    footer = data[at + _block_size(counts, instant_size=8) :]
    instants = struct.unpack_from(f">{counts[3]}q", data, at)
    changes = tuple(each for each in _changes(data, at, instants, counts[4]) if each.before_s != each.after_s)
    # The footer is a rule as POSIX writes it in TZ. A rule that changes the clock names two dates after a
    # comma. The rule begins after the last instant, even if that instant changed only the zone's
    # abbreviation.
    return ZoneTransitions(changes, instants[-1] if instants else None, b"," in footer)


def _block_size(counts: list[int], *, instant_size: int) -> int:
    utc, standard, leaps, instants, types, letters = counts
    leap_size = instant_size + 4
    return instants * (instant_size + 1) + types * _TYPE.size + letters + leaps * leap_size + standard + utc


def _changes(data: bytes, at: int, instants: tuple[int, ...], types: int) -> Iterator[Transition]:
    kinds_at, types_at = at + 8 * len(instants), at + 9 * len(instants)
    offsets = [_TYPE.unpack_from(data, types_at + _TYPE.size * number)[0] for number in range(types)]
    # Before the first change, the first type applies.
    ruling = pairwise([offsets[0], *(offsets[kind] for kind in data[kinds_at:types_at])])
    for instant, (before_s, after_s) in zip(instants, ruling, strict=True):
        yield Transition(instant, before_s, after_s)
