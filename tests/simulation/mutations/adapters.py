"""Errors between the use cases and AWS. They show only on stores over the wire."""

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, Instead, mutation, replacing, wrapping
from tests.simulation.world.wire import wire

from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.model.timer import Cursor, Lease
from sweephand.storage import jobs, leases, runs
from sweephand.storage.connect import only_while
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases, ShardsItem
from sweephand.storage.table import QueryResult, Refusal, Table


@mutation("An entry of a batch that SQS refused is not sent again", stores=wire)
@wrapping(SqsQueue, "_try_once")
def forgets_refused_entries(tried: Callable[..., list[Any]], queue: SqsQueue, *args: Any) -> list[Any]:
    tried(queue, *args)
    return []


def _asking_once(is_theirs: Callable[[Sequence[Any]], bool]) -> Broken:
    ask_all = Table._repeat_unprocessed

    def once(table: Table, requests: Sequence[Any], ask: Any) -> None:
        if is_theirs(requests):
            ask(requests)
        else:
            ask_all(table, requests, ask)

    return patch.object(Table, "_repeat_unprocessed", once)


@mutation("An item that DynamoDB left unprocessed is not written again", stores=wire)
def forgets_unprocessed_items() -> Broken:
    return _asking_once(lambda requests: "PutRequest" in requests[0])


@mutation("A key that DynamoDB left unprocessed counts as a job that does not exist", stores=wire)
def takes_unprocessed_for_absent() -> Broken:
    return _asking_once(lambda requests: "PutRequest" not in requests[0])


@mutation("A batch write has one key twice", stores=wire)
@wrapping(Table, "put_batch")
def sends_keys_twice(put_batch: Callable[..., None], table: Table, items: Sequence[Any]) -> None:
    put_batch(table, [*items, *items[:1]])


@mutation("A write of a job that the SDK repeated counts as somebody else's write", stores=wire)
def denies_own_job() -> Broken:
    return patch.object(jobs, "is_result_of", lambda *_: False)


@mutation("A deletion that the SDK repeated is answered as if there was no job", stores=wire)
@replacing(DynamoJobs, "delete")
def denies_own_deletion(store: DynamoJobs, job: Any, in_time: Callable[[], bool]) -> bool:
    with only_while(in_time):
        unchanged = jobs.JobItem.version == job.version
        return store._table.delete(jobs._item_key(job.key), unchanged) is None


@mutation(
    "A claim of a shard that the SDK repeated counts as refused",
    stores=wire,
    masked_by="the lease's end: the next tick takes the shard up",
)
@wrapping(Table, "update")
def denies_own_lease(update: Callable[..., Any], table: Table, *args: Any) -> Any:
    answer = update(table, *args)
    return Refusal(None) if isinstance(answer, Refusal) else answer


@mutation(
    "A claim or record of a run that the SDK repeated counts as refused",
    stores=wire,
    masked_by="the claim's end: put back, the attempt is granted after 180 s",
)
def denies_own_run() -> Broken:
    return patch.object(runs, "is_same_write", lambda *_: False)


@mutation("A query ends at an empty page though more pages follow", stores=wire)
@wrapping(Table, "query")
def stops_at_empty_pages(
    query: Callable[..., QueryResult], table: Table, *args: Any, **kwargs: Any
) -> QueryResult:
    client = table._client

    def cut_short(**request: Any) -> Any:
        answer: Any = client.query(**request)
        if not answer["Items"]:
            answer.pop("LastEvaluatedKey", None)
        return answer

    other: Any = Instead(client, query=cut_short)
    return query(Table(other, table._name, table._wait_ms), *args, **kwargs)


@mutation("The number of shards is raised before the new shards have leases", stores=wire)
@replacing(DynamoLeases, "raise_shards")
def counts_shards_first(store: DynamoLeases, count: int) -> int:
    table = store._table
    stored = table.get(leases._SHARDS)
    before = 0 if stored is None else ShardsItem.read(stored).shards
    if before >= count:
        return before
    table.put(ShardsItem(*leases._SHARDS, shards=count))
    for shard in range(before, count):
        table.put(leases._item(Lease(shard, Cursor())), leases.LeaseItem.pk.does_not_exist())
    return count
