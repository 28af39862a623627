"""Which queues a job may name: those that TargetQueueArns lists, and none of the stack's own."""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.targets.sqs import QueueUrl, read_queue_url
from sweephand.targets.url import UrlError

#: An ARN of a queue, with the wildcards of IAM: `*` stands for any characters, `?` for one.
_ARN: Final = re.compile(r"\*|[^\s,:]+:[^\s,:]+:[^\s,:]+:[^\s,:]+:[^\s,:]+:[^\s,:]+")

_OWN: Final = "Give a queue of yours: this one is the stack's own."


class JobQueues(NamedTuple):
    """The queues that jobs may send to, by the stack's list of ARNs, and the URLs of the stack's own queues.

    The same list stands in the policy of the delivery function's role, which has the last word.
    """

    own: Collection[str] = ()
    arns: tuple[str, ...] = ()

    def refusal(self, queue: QueueUrl) -> str | None:
        """Why a job may not name that queue, in a sentence that says what would be right; None if it may.

        Whoever may write a job could otherwise use all rights of the stack's role, and write into the
        delivery queue what passes for a trigger of another namespace.
        """
        if queue.is_one_of(self.own):
            return _OWN
        if not any(_allows(arn, queue) for arn in self.arns):
            return not_listed(queue)
        return None

    def violations(self, at: str, url: object, *, allow_insecure: bool) -> list[Violation]:
        """What is wrong with the URL of a queue that a job names, if it can be read and may not be named.

        A URL that cannot be read is for the field's own rules to refuse.
        """
        try:
            refusal = self.refusal(read_queue_url(url, allow_insecure=allow_insecure))
        except UrlError:
            return []
        return [] if refusal is None else [Violation(at, refusal)]


#: No queue: what a function may send to that is not told of any.
NO_QUEUE: Final = JobQueues()

#: Every queue, as the list `*` names it: for what runs without a stack.
EVERY_QUEUE: Final = JobQueues(arns=("*",))


def not_listed(queue: QueueUrl) -> str:
    """That the stack may not send to a queue, and what its operator can do about it."""
    return (
        f"This stack may not send to {queue.arn}: give a queue that its parameter TargetQueueArns names, "
        "or have its operator add this one there."
    )


def read_arns(text: str) -> tuple[str, ...]:
    """The ARNs of a list with commas between them; spaces and empty parts count for nothing.

    ValueError if a part is neither an ARN nor `*`.
    """
    parts = [part.strip() for part in text.split(",")]
    arns = tuple(part for part in parts if part)
    wrong = _first(arn for arn in arns if not _ARN.fullmatch(arn))
    if wrong is not None:
        raise ValueError(f"{wrong!r} is no ARN of a queue")
    return arns


def _first(parts: Iterable[str]) -> str | None:
    return next(iter(parts), None)


def _allows(arn: str, queue: QueueUrl) -> bool:
    if queue.region is not None:
        return bool(_pattern(arn).fullmatch(queue.arn))
    # A local engine's queue has no region, and its URL does not always say an account: the name tells.
    return bool(_pattern(arn.rpartition(":")[2]).fullmatch(queue.name))


@lru_cache
def _pattern(arn: str) -> re.Pattern[str]:
    return re.compile(re.escape(arn).replace(r"\*", ".*").replace(r"\?", "."))
