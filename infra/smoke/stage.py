"""The stack that the checks use, and how they reach it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import urllib3
from infra.local.client import Client
from infra.local.deploy import Aws
from infra.smoke.queue import Queue

_T = TypeVar("_T")


class Queues:
    """Makes queues whose names begin with `prefix`, which begins with sweephand-, and removes them."""

    def __init__(self, client: Any, prefix: str) -> None:
        self._client = client
        self.prefix = prefix
        self._outside = prefix.removeprefix("sweephand-")

    def make(self, purpose: str, *, is_fifo: bool = False) -> Queue:
        """The queue for one purpose. A queue that exists is used again."""
        name = f"{self.prefix}-{purpose}" + (".fifo" if is_fifo else "")
        return self._made(name, {"FifoQueue": "true"} if is_fifo else {})

    def of_round(self, name: str) -> "Queues":
        """Other queues for checks that run once more. urls() of these queues has them too."""
        return Queues(self._client, f"{self.prefix}-{name}")

    def make_outside(self, purpose: str) -> Queue:
        """A queue whose name does not begin with sweephand-, so that no job may name it by default."""
        return self._made(f"{self._outside}-{purpose}", {})

    def _made(self, name: str, attributes: Mapping[str, str]) -> Queue:
        return self.at(self._client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])

    def none(self, purpose: str) -> Queue:
        """The queue of this purpose, which is not made."""
        return self.at(self.make("any").url.removesuffix("any") + purpose)

    def at(self, url: str) -> Queue:
        """The queue at a URL, for example one of the stack's own."""
        return Queue(self._client, url)

    def urls(self) -> list[str]:
        """The URLs of all queues that were made here, by this program or by one that was killed."""
        found: list[str] = []
        for prefix in (self.prefix, self._outside):
            answer = self._client.list_queues(QueueNamePrefix=f"{prefix}-", MaxResults=1_000)
            found += answer.get("QueueUrls", [])
        return found

    def remove(self, url: str) -> None:
        """Delete a queue with all its messages."""
        self._client.delete_queue(QueueUrl=url)


@dataclass(frozen=True)
class Pace:
    """How long the checks may take. On this machine the times are shortened."""

    herd_sizes: tuple[int, ...]
    lead_s: int
    outage_s: int
    period_s: int
    on_time_ms: int


ON_AWS = Pace(herd_sizes=(1, 100, 1_000, 5_000), lead_s=330, outage_s=600, period_s=30, on_time_ms=1_000)
#: A trigger due at :00 is written 15 s before. A machine that also runs a whole AWS and tests may be late.
ON_THIS_MACHINE = Pace(herd_sizes=(1, 100), lead_s=15, outage_s=15, period_s=5, on_time_ms=15_000)


@dataclass(frozen=True)
class Given:
    """What the command was given for the switches that need something of the account. Empty: not given.

    The issuer, the audience and the token are given together. So are the subnets and their security groups.
    """

    kms_key: str = ""
    subnets: str = ""
    security_groups: str = ""
    issuer: str = ""
    audience: str = ""
    token: str = ""


@dataclass(frozen=True)
class Stage:
    """A deployed stack: its name, its outputs, its API with the admin key, and queues for the checks.

    Checks that run once more have namespaces of their own, whose names have `round` in them.
    """

    stack: str
    aws: Aws
    outputs: Mapping[str, str]
    client: Client
    queues: Queues
    pace: Pace
    consumer: str | None = None
    given: Given = Given()
    round: str = ""

    @property
    def is_local(self) -> bool:
        """Whether the stack runs on this machine."""
        return self.aws.endpoint_url is not None

    def path(self, namespace: str, name: str, *below: str) -> str:
        """The path of a job, or of a resource below it."""
        return "/".join((f"/v1/namespaces/smoke-{self.round}{namespace}/jobs/{name}", *below))

    def physical(self, logical_id: str) -> str:
        """The physical id of a resource of the stack."""
        answer = self.aws.client("cloudformation").describe_stack_resource(
            StackName=self.stack, LogicalResourceId=logical_id
        )
        return str(answer["StackResourceDetail"]["PhysicalResourceId"])

    def answered(self, path: str) -> Any | None:
        """The body of an answer 200; None if the answer is another, or does not come.

        While the local AWS replaces functions, a call can stay without an answer.
        """
        try:
            answer = self.client.call("GET", path)
        except urllib3.exceptions.HTTPError:
            return None
        return answer.body if answer.status == 200 else None  # noqa: PLR2004 - OK

    def put(self, namespace: str, name: str = "job", **job: Any) -> str:
        """Write a job and return its path."""
        path = self.path(namespace, name)
        self.client.ask("PUT", path, job)
        return path

    def run_of(self, path: str, *states: str, within_s: float = 60) -> Any:
        """The newest run of a job, once it is in one of these states."""

        def read() -> Any:
            items = self.client.ask("GET", f"{path}/runs")["items"]
            return items[0] if items and items[0]["state"] in states else None

        return eventually(read, f"a run of {path} that is {' or '.join(states)}", within_s)


def eventually(read: Callable[[], _T | None], what: str, within_s: float = 60) -> _T:
    """The first value that `read` returns. TimeoutError says that `what` did not come."""
    deadline = time.monotonic() + within_s
    while (value := read()) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come within {within_s:.0f} s")
        time.sleep(0.5)
    return value


def now_ms() -> int:
    """Milliseconds since 1970 by this machine's clock."""
    return time.time_ns() // 1_000_000
