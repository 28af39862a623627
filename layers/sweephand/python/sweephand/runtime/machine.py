"""The clock, the chance and the threads of the machine. No other module reads the time or asks for chance."""

import os
import random
import string
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Final, NamedTuple, TypeVar

from sweephand.base.concurrency import DELIVERIES_AT_ONCE, REQUESTS_AT_ONCE
from sweephand.base.instants import Instant


class SystemClock:
    """ports.Clock by the machine's clock."""

    def now(self) -> Instant:
        """The present instant in whole milliseconds, rounded down."""
        return time.time_ns() // 1_000_000

    def wait_until(self, instant: Instant) -> None:
        """Return at that instant or just after; at once if it is past."""
        remaining_ms = instant - self.now()
        if remaining_ms > 0:
            time.sleep(remaining_ms / 1_000)


class _Alphabet(NamedTuple):
    """How random bytes become the characters of an alphabet, each equally likely.

    The table covers the largest multiple of the alphabet's size that fits into 256. The remaining bytes are
    `dropped`: they would make the first characters more likely than the last.
    """

    table: bytes
    dropped: bytes

    @classmethod
    def of(cls, characters: str) -> "_Alphabet":
        """The alphabet of those characters, which must be ASCII."""
        times = 256 // len(characters)
        table = (characters.encode() * times).ljust(256, b"?")
        return cls(table, bytes(range(times * len(characters), 256)))


_TOKEN: Final = _Alphabet.of(string.digits + string.ascii_lowercase)
_TOKEN_LENGTH: Final = 16
_TOKENS_AT_ONCE: Final = 32
_SECRET: Final = _Alphabet.of(string.ascii_letters + string.digits)


class SystemIds:
    """ports.Ids by the operating system's randomness. Several threads may share one object.

    Nothing is drawn before the first call, and Lambda takes its snapshot before that. So two processes that
    start from one snapshot never share random numbers.
    """

    def __init__(self) -> None:
        self._tokens: list[str] = []

    def token(self) -> str:
        """16 characters of a-z and 0-9: 82 random bits.

        Tokens are drawn 32 at a time. For each system call a thread releases the interpreter lock, and each
        of ten threads that deliver needs a token.
        """
        try:
            return self._tokens.pop()
        except IndexError:
            drawn = _drawn(_TOKEN, _TOKEN_LENGTH * _TOKENS_AT_ONCE)
            first, *others = (drawn[at : at + _TOKEN_LENGTH] for at in range(0, len(drawn), _TOKEN_LENGTH))
            self._tokens += others
            return first

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9: 256 random bits."""
        return _drawn(_SECRET, 43)

    def fraction(self) -> float:
        """A random number from 0 up to but not including 1."""
        return random.SystemRandom().random()


def _drawn(alphabet: _Alphabet, length: int) -> str:
    """A random text of that length."""
    drawn = b""
    while len(drawn) < length:
        # A few bytes in a hundred are dropped. Half as many again are nearly always enough.
        drawn += os.urandom(length + length // 2).translate(alphabet.table, alphabet.dropped)
    return drawn[:length].decode()


Result = TypeVar("Result")

#: Jobs of one bulk request that are written at once: a write waits for its stores most of its time.
WRITES_AT_ONCE = 8


@cache
def write_pool() -> ThreadPoolExecutor:
    """The threads in which the API function writes jobs."""
    return ThreadPoolExecutor(WRITES_AT_ONCE, thread_name_prefix="write")


@cache
def sweep_pool() -> ThreadPoolExecutor:
    """The threads in which a sweeper reads, writes and sends."""
    return ThreadPoolExecutor(REQUESTS_AT_ONCE, thread_name_prefix="sweep")


@cache
def delivery_pool() -> ThreadPoolExecutor:
    """The threads that help the delivery function's own thread."""
    return ThreadPoolExecutor(DELIVERIES_AT_ONCE - 1, thread_name_prefix="delivery")


def write_concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """The results of the tasks, in order. The first error is raised once every task has ended.

    Lambda freezes the process when the function has answered. A thread that was left behind would go on
    minutes later, between the arming of a job and its commit.
    """
    begun = [write_pool().submit(task) for task in tasks]
    wait(begun)
    return [each.result() for each in begun]


def sweep_concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """The results of the tasks, in order. The first error is raised once every task has ended.

    The calling thread works as well. So a task may call this again, however many threads of the pool wait.
    """
    numbers = iter(range(len(tasks)))
    results: dict[int, Result] = {}
    errors: dict[int, Exception] = {}

    def work() -> None:
        for number in numbers:
            try:
                results[number] = tasks[number]()
            except Exception as error:  # noqa: BLE001 - it is raised once every task has ended
                errors[number] = error

    helping = [sweep_pool().submit(work) for _ in tasks[1 : REQUESTS_AT_ONCE + 1]]
    work()
    for helper in helping:
        # No thread has begun a helper that can be cancelled, and its tasks are done.
        if not helper.cancel():
            helper.result()
    if errors:
        raise errors[min(errors)]
    return [results[number] for number in range(len(tasks))]


def deliver_concurrently(
    tasks: Sequence[Callable[[], Result]], pool: ThreadPoolExecutor | None = None
) -> Iterable[Result]:
    """The results of the tasks, in order. Each task has a thread to begin in at once.

    The threads are those of one delivery function, or of a `pool` that serves several callers. The calling
    thread works as well. A thread that begins a task asks for one more thread. A thread that has ended its
    task takes one that no thread has begun. So few threads have to be woken where consumers answer fast.
    A task must not raise.
    """
    numbers = iter(range(len(tasks)))
    results: dict[int, Result] = {}
    helpers: list[Future[None]] = []
    is_awaited = False

    def help_out() -> None:
        nonlocal is_awaited
        is_awaited = False
        work()

    def work() -> None:
        nonlocal is_awaited
        for number in numbers:
            # Two threads may both ask, for one helper more than is needed.
            if number + 1 < len(tasks) and not is_awaited:
                is_awaited = True
                helpers.append((pool or delivery_pool()).submit(help_out))
            results[number] = tasks[number]()

    work()
    while helpers:
        helper = helpers.pop()
        # One that no thread has begun has nothing left to do. Its thread may wait for helpers of its own.
        if not helper.cancel():
            helper.result()
    return [results[number] for number in range(len(tasks))]
