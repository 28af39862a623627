"""The jobs of a world whose policy has `by`: what they are like at each time, and what it counts by."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeVar

from sweephand.base.instants import Instant
from sweephand.model.definition import Definition
from sweephand.model.job import JobKey
from sweephand.model.policy import Policy

Value = TypeVar("Value")

POLICY: Final = "mailer"
BY: Final = ("label:tenant", "label:tenant", "job", "host", None)


class Tenants:
    """Each job has a tenant and a host of its own, and may get another tenant.

    What a function has read of a job or of the policy may be `stale_ms` old when its request leaves.
    """

    def __init__(self, jobs: int, stale_ms: int) -> None:
        self.names = [f"job{number}" for number in range(jobs)]
        self._stale_ms = stale_ms
        self._had: dict[str, list[tuple[Instant, str]]] = {name: [(0, name[-1])] for name in self.names}
        self._by: list[tuple[Instant, str | None]] = []
        self._moves: defaultdict[str, int] = defaultdict(int)

    def definition(self, key: JobKey) -> Definition:
        """The job as it is now. One of them has no label before it moves."""
        tenant = self._had[key.name][-1][1]
        labels = {} if tenant == "0" else {"labels": {"tenant": tenant}}
        url = f"https://{key.name}.example.com/"
        return Definition({"policy": POLICY, "target": {"type": "http", "url": url}, **labels})

    def move(self, name: str, now: Instant) -> None:
        """A client gives a job another tenant, which no other job has."""
        self._moves[name] += 1
        self._had[name].append((now, f"{name}-{self._moves[name]}"))

    def written(self, policy: Policy, now: Instant) -> None:
        """The policy was written."""
        self._by.append((now, policy.by))

    def may_have(self, job: JobKey, key: str | None, now: Instant) -> bool:
        """Whether a request of a job may leave under that key now."""
        return key in set(self._keys(job.name, now - self._stale_ms))

    def _keys(self, name: str, since: Instant) -> Iterator[str | None]:
        for by in _recent(self._by, since):
            if by is None:
                yield None
            elif by == "job":
                yield f"job:{name}"
            elif by == "host":
                yield f"host:{name}.example.com"
            else:
                for tenant in _recent(self._had[name], since):
                    yield f"{by}:{'' if tenant == '0' else tenant}"

    @property
    def by(self) -> str | None:
        """What the policy counts by now."""
        return self._by[-1][1] if self._by else None

    @property
    def changes_of_by(self) -> int:
        """How often another `by` was stored."""
        kinds = [by for _, by in self._by]
        return sum(one != other for one, other in pairwise(kinds))


def _recent(values: Sequence[tuple[Instant, Value]], since: Instant) -> list[Value]:
    """What was so at any time since then."""
    before = [value for at, value in values if at <= since]
    return [*before[-1:], *(value for at, value in values if at > since)]
