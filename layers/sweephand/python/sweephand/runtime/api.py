"""What the API function is made of."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

from sweephand.access.signing_keys import SigningKeys
from sweephand.jobs.bulk import Bulk
from sweephand.jobs.change_history import Changes
from sweephand.jobs.commit import Commits
from sweephand.jobs.expiry import Completions
from sweephand.jobs.on_demand import Demands
from sweephand.jobs.pause import Pauser
from sweephand.jobs.read import Reader
from sweephand.jobs.resume import Resumer
from sweephand.jobs.write import Writer
from sweephand.runs.callbacks import Reporter
from sweephand.runs.flow.overlap_queue import Turns
from sweephand.runs.redrive import Redriver
from sweephand.runtime import parts, stores
from sweephand.storage.api_keys import DynamoKeys
from sweephand.web.http.app import Handler, build_handler
from sweephand.web.services import Services
from sweephand.wheel.shards import ShardCount

Result = TypeVar("Result")

#: Jobs of one bulk request that are written at once: a write waits for its stores most of its time.
WRITES_AT_ONCE = 8


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(WRITES_AT_ONCE, thread_name_prefix="write")


def _concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """What the tasks return, in order; what the first of them raised, once every one of them has ended.

    Lambda freezes the process when the function has answered. A thread that was left behind would go on
    minutes later, between the arming of a job and its commit.
    """
    begun = [_threads().submit(task) for task in tasks]
    wait(begun)
    return [each.result() for each in begun]


@cache
def api() -> Handler:
    """The API over the stores of this stack: an event of the gateway in, its answer out."""
    clock, ids = parts.clock(), parts.ids()
    jobs, changes = parts.jobs(), stores.changes()
    commits = Commits(
        jobs=jobs,
        changes=changes,
        timers=parts.timers(),
        queue=parts.queue(),
        payloads=stores.payloads(),
        clock=clock,
    )
    pauser = Pauser(jobs=jobs, changes=changes, clock=clock, ids=ids)
    completions = Completions(jobs=jobs, runs=parts.runs(), clock=clock, ids=ids)
    resumer = Resumer(jobs=jobs, runs=parts.runs(), commits=commits, completions=completions, ids=ids)
    turns = Turns(slots=stores.slots(), runs=parts.runs(), queue=parts.queue(), clock=clock, ids=ids)
    writer = Writer(
        jobs=jobs,
        changes=changes,
        commits=commits,
        clock=clock,
        ids=ids,
        shards=ShardCount(leases=parts.leases(), clock=clock, wanted=parts.settings().shards),
    )
    return build_handler(
        Services(
            writer=writer,
            pauser=pauser,
            resumer=resumer,
            bulk=Bulk(
                jobs=jobs,
                pauser=pauser,
                resumer=resumer,
                writer=writer,
                clock=clock,
                concurrently=_concurrently,
            ),
            changes=Changes(jobs=jobs, changes=changes),
            demands=Demands(jobs=jobs, queue=parts.queue(), payloads=stores.payloads(), clock=clock, ids=ids),
            reader=Reader(jobs=jobs, runs=parts.runs(), payloads=stores.payloads()),
            runs=parts.runs(),
            slots=stores.slots(),
            reporter=Reporter(
                jobs=jobs,
                runs=parts.runs(),
                turns=turns,
                queue=parts.queue(),
                clock=clock,
                ids=ids,
            ),
            redriver=Redriver(jobs=parts.jobs(), runs=parts.runs(), queue=parts.queue(), clock=clock),
            keys=DynamoKeys(parts.jobs_table()),
            signing=SigningKeys(secrets=stores.secrets(), ids=ids, clock=clock),
            leases=parts.leases(),
            clock=clock,
            ids=ids,
            allow_insecure_targets=parts.settings().allows_insecure_targets,
            queues=parts.settings().queues,
            concurrently=_concurrently,
        )
    )
