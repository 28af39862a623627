"""What a page of several sorted partitions reads of them."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

import pytest

from sweephand.base.concurrency import Result
from sweephand.storage.listing import Fetch, Listing, merged

PARTITIONS: Final = 16


@dataclass
class Partitions:
    """Names at random, the size of each answer that was asked of them, and how many were asked at once."""

    names: list[list[str]]
    answers: list[int] = field(default_factory=list)
    at_once: list[int] = field(default_factory=list)

    def page(self, after: str, limit: int) -> tuple[Sequence[str], str | None]:
        return merged([Listing(self._fetch(each)) for each in self.names], after, limit, self._at_once)

    def _at_once(self, tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        self.at_once.append(len(tasks))
        return [task() for task in tasks]

    def _fetch(self, names: list[str]) -> Fetch[str]:
        def fetch(after: str, limit: int) -> tuple[Sequence[tuple[str, str]], bool]:
            start = bisect_right(names, after)
            found = names[start : start + limit]
            self.answers.append(len(found))
            return [(name, name) for name in found], start + limit < len(names)

        return fetch


def partitions(stored: int, seed: int) -> Partitions:
    chance = Random(seed)  # noqa: S311 - test data
    names: list[list[str]] = [[] for _ in range(PARTITIONS)]
    for number in range(stored):
        chance.choice(names).append(f"job-{number:05}")
    return Partitions(names)


@pytest.mark.parametrize(("limit", "requests"), [(50, 26), (200, 28), (1_000, 30)])
def test_a_page_reads_little_more_than_it_shows_however_long_it_is(limit: int, requests: int) -> None:
    for seed in range(20):
        stored = partitions(3_000, seed)
        shown, following = stored.page("", limit)
        assert (shown, following) == (
            [f"job-{number:05}" for number in range(limit)],
            f"job-{limit - 1:05}",
        )
        assert sum(stored.answers) <= limit + PARTITIONS * 8
        assert len(stored.answers) <= requests
        assert stored.at_once == [PARTITIONS]


def test_pages_of_any_length_show_each_name_once() -> None:
    stored = partitions(1_200, 0)
    for limit in (1, 7, 100, 1_000, 5_000):
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            shown, after = stored.page(after, limit)
            found += shown
        assert found == sorted(name for names in stored.names for name in names)
