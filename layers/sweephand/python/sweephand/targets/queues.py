"""What jobs may reach: the queues that TargetQueueArns lists, but never the stack's own."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.targets.queue_url import QueueUrl, read_queue_url
from sweephand.targets.url import UrlError

#: The ARN of a queue, with the wildcards of IAM: `*` stands for any characters, `?` for one.
# re compiles it when it is first used, so that importing this module stays cheap.
_ARN: Final = r"\*|[^\s,:]+:[^\s,:]+:[^\s,:]+:[^\s,:]+:[^\s,:]+:[^\s,:]+"

_OWN: Final = "Give a queue of yours: this one is the stack's own."


class JobQueues(NamedTuple):
    """The queues that jobs may send to.

    `arns` are the patterns that the stack's parameter TargetQueueArns lists. `own` are the URLs of the
    stack's own queues, which no job may name. The policy of the delivery function's role holds the same list
    of ARNs. AWS enforces that policy, whatever is decided here.
    """

    own: Collection[str] = ()
    arns: tuple[str, ...] = ()

    def refusal(self, queue: QueueUrl) -> str | None:
        """Why a job may not name that queue, in a sentence that says what would be right; None if it may.

        Without this rule, a caller who may write jobs could use every right of the stack's role. The caller
        could also write into the delivery queue, and forge triggers of another namespace.
        """
        if queue.is_one_of(self.own):
            return _OWN
        if not any(_allows(arn, queue) for arn in self.arns):
            return not_listed(queue)
        return None

    def violations(self, at: str, url: object, *, allow_insecure: bool) -> list[Violation]:
        """The violation of a URL whose queue a job may not name, at the JSON pointer `at`; else empty.

        It is empty for a URL that cannot be read, too: the rules of the field refuse that URL.
        """
        try:
            refusal = self.refusal(read_queue_url(url, allow_insecure=allow_insecure))
        except UrlError:
            return []
        return [] if refusal is None else [Violation(at, refusal)]


#: No queue. A function whose environment lists no queue may send to none.
NO_QUEUE: Final = JobQueues()

#: Every queue, as the list `*` allows it. It is for code that runs without a stack.
EVERY_QUEUE: Final = JobQueues(arns=("*",))


class Reach(NamedTuple):
    """What the deliveries of a stack may reach.

    `allow_insecure` is true where the stack allows `http` and loopback addresses. `queues` are the SQS queues
    that jobs may name. A type that reaches other resources adds a field here, with a default that allows
    none.
    """

    allow_insecure: bool = False
    queues: JobQueues = NO_QUEUE


def not_listed(queue: QueueUrl) -> str:
    """The sentence that says that the stack may not send to a queue, and what its operator can do."""
    return (
        f"This stack may not send to {queue.arn}: give a queue that its parameter TargetQueueArns names, "
        "or have its operator add this one there."
    )


def read_arns(text: str) -> tuple[str, ...]:
    """The ARNs in a list that is separated by commas. Spaces and empty parts are dropped.

    Raises ValueError if a part is neither an ARN nor `*`.
    """
    parts = [part.strip() for part in text.split(",")]
    arns = tuple(part for part in parts if part)
    wrong = next((arn for arn in arns if not re.fullmatch(_ARN, arn)), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is no ARN of a queue")
    return arns


def _allows(arn: str, queue: QueueUrl) -> bool:
    if queue.region is not None:
        return bool(_pattern(arn).fullmatch(queue.arn))
    # The URL of a local engine's queue has no region, and not always an account. So only names are compared.
    return bool(_pattern(arn.rpartition(":")[2]).fullmatch(queue.name))


@lru_cache
def _pattern(arn: str) -> re.Pattern[str]:
    return re.compile(re.escape(arn).replace(r"\*", ".*").replace(r"\?", "."))
