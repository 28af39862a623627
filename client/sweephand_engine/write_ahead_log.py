"""What SQLite would leave out of a write-ahead log without a word ("The WAL File Format").

SQLite reads the log up to the first frame that is not whole, and forgets the rest. After the end of a process
that rest is a write that nobody was told of. If a whole write comes after it, the log is damaged.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")

#: The first number of a header. The second says that the checksums are of words with the high byte first.
_LOW_FIRST: Final = 0x377F0682
_HIGH_FIRST: Final = 0x377F0683

_WORD: Final = 0xFFFFFFFF

#: SQLite begins the log anew after each checkpoint, over the former frames. It counts the first salt up.
_FORMER_MAX: Final = 1 << 20


class Ending(NamedTuple):
    """How a log ends.

    `whole` are the bytes up to the end of the last write that SQLite reads, and `torn` are those after it.
    The log is damaged if these have a whole write.
    """

    whole: int
    torn: int
    is_damaged: bool


class _Frame(NamedTuple):
    end: int
    salts: tuple[int, int]
    is_commit: bool
    sums: tuple[int, int]
    #: What its checksum is of, after that of the frame before.
    summed: bytes


def ending_of(log: Path) -> Ending:
    """The ending of a log. A log that does not exist has nothing."""
    content = log.read_bytes() if log.exists() else b""
    if len(content) < _HEADER.size:
        return Ending(0, len(content), is_damaged=False)
    kind, _, page_bytes, _, *salts, high, low = _HEADER.unpack_from(content)
    order = {_LOW_FIRST: "<", _HIGH_FIRST: ">"}.get(kind, "")
    sums = (high, low)
    if not order or _summed((0, 0), content[: _HEADER.size - 8], order) != sums:
        return Ending(0, len(content), is_damaged=True)
    whole, is_whole, is_damaged = _HEADER.size, True, False
    for frame in _frames(content, page_bytes):
        is_of_now = frame.salts == tuple(salts)
        sums = _summed(sums, frame.summed, order) if is_whole else sums
        is_whole = is_whole and is_of_now and sums == frame.sums
        if is_whole and frame.is_commit:
            whole = frame.end
        is_damaged |= not is_whole and is_of_now and frame.is_commit
    torn = len(content) - whole
    if torn >= _FRAME.size:
        salt = _FRAME.unpack_from(content, whole)[2]
        torn = 0 if 0 < (salts[0] - salt) & _WORD < _FORMER_MAX else torn
    return Ending(whole, torn, is_damaged=is_damaged)


def _frames(content: bytes, page_bytes: int) -> Iterator[_Frame]:
    size = _FRAME.size + page_bytes
    for begin in range(_HEADER.size, len(content) - size + 1, size):
        _, pages, *salts, high, low = _FRAME.unpack_from(content, begin)
        summed = content[begin : begin + 8] + content[begin + _FRAME.size : begin + size]
        yield _Frame(begin + size, (salts[0], salts[1]), pages > 0, (high, low), summed)


def _summed(sums: tuple[int, int], content: bytes, order: str) -> tuple[int, int]:
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(content) // 4}I", content))
    for one, other in zip(words, words, strict=True):
        first = (first + one + second) & _WORD
        second = (second + other + first) & _WORD
    return first, second
