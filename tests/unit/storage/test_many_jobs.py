"""How many requests it takes to search many jobs, and to look for their timers and runs."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.contract.builders import job, run, timer
from tests.fakes.dynamodb import FakeDynamoDB

from sweephand.base.concurrency import Result
from sweephand.model.job import Job
from sweephand.storage import jobs as storage
from sweephand.storage.jobs import LISTING_SHARDS, DynamoJobs
from sweephand.storage.runs import DynamoRuns
from sweephand.storage.table import RawItem, Table
from sweephand.storage.timers import DynamoTimers

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOBS = 2_000


class Counted:
    """A client of DynamoDB in memory, whose requests are counted, and how many tasks went at once."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.at_once: list[int] = []
        self._client = FakeDynamoDB()

    def __getattr__(self, name: str) -> Any:
        self.requests[name] += name in ("query", "get_item", "batch_get_item")
        return getattr(self._client, name)

    def table(self) -> Table:
        return Table(cast("DynamoDBClient", self), "table", lambda _: None, self._concurrently)

    def _concurrently(self, tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        self.at_once.append(len(tasks))
        return [task() for task in tasks]


@pytest.fixture(scope="module")
def stored() -> Counted:
    aws = Counted()
    jobs = DynamoJobs(aws.table())
    for number in range(JOBS):
        assert jobs.put(job(f"job-{number:04}"), replacing=None)
    return aws


def wants(part: str) -> Callable[[str, Mapping[str, Any]], bool]:
    return lambda name, _: part in name


@pytest.mark.parametrize("limit", [16, 800, JOBS * 2])
def test_a_search_asks_each_partition_once_and_all_at_once(stored: Counted, limit: int) -> None:
    stored.requests.clear()
    stored.at_once.clear()
    page = DynamoJobs(stored.table()).search("default", "", "", limit, wants("77"))
    assert stored.requests["query"] == LISTING_SHARDS
    assert stored.at_once == [LISTING_SHARDS]
    assert (page.next is None) == (limit > JOBS)


def test_a_search_of_one_job_at_a_time_comes_to_the_end(stored: Counted) -> None:
    jobs = DynamoJobs(stored.table())
    names: list[str] = []
    following: str | None = "job-199"
    while following is not None:
        page = jobs.search("default", "", following, 1, wants(""))
        names += [each.key.name for each in page.items]
        following = page.next
    assert names == [f"job-199{number}" for number in range(10)]


def test_a_search_decodes_only_what_is_wanted(stored: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []
    whole = storage._job

    def counted(raw: RawItem) -> Job:
        decoded.append(raw["sk"]["S"])
        return whole(raw)

    monkeypatch.setattr(storage, "_job", counted)
    page = DynamoJobs(stored.table()).search("default", "", "", JOBS * 2, wants("777"))
    assert decoded == [each.key.name for each in page.items] == ["job-0777", "job-1777"]


def test_many_keys_are_read_a_hundred_at_a_time_and_all_at_once(stored: Counted) -> None:
    stored.requests.clear()
    stored.at_once.clear()
    jobs = DynamoJobs(stored.table())
    keys = [job(f"job-{number:04}").key for number in range(1_000)]
    assert len(jobs.get_many(keys)) == 1_000
    assert (stored.requests["batch_get_item"], stored.at_once) == (10, [10])


def test_the_timers_of_a_thousand_jobs_take_ten_requests_and_the_packs_of_their_buckets() -> None:
    aws = Counted()
    timers = DynamoTimers(aws.table())
    asked = [timer(name=f"job-{number:04}") for number in range(1_000)]
    timers.put(asked[1:])
    aws.requests.clear()
    aws.at_once.clear()
    assert timers.missing(asked) == asked[:1]
    assert aws.requests == {"batch_get_item": 10, "query": 1}
    assert aws.at_once == [10, 1]


def test_the_newest_runs_of_many_jobs_are_read_at_once() -> None:
    aws = Counted()
    runs = DynamoRuns(aws.table())
    assert runs.record(run())
    keys = [run().key, *(job(f"job-{number}").key for number in range(99))]
    aws.requests.clear()
    first, *others = runs.newest(keys, 100)
    assert first == runs.page(run().key, None, "", 100)
    assert not any(each.items for each in others)
    assert aws.at_once[0] == 100
