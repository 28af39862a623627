"""What jobs may reach: what the parameters of the stack list, but never the stack's own queues."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.targets.addresses import Networks
from sweephand.targets.arns import matches, matches_any
from sweephand.targets.queue_url import QueueUrl, read_queue_url
from sweephand.targets.url import UrlError

if TYPE_CHECKING:
    # Many stacks have no such lists.
    from sweephand.targets.destinations import Destinations

_OWN: Final = "Give a queue of yours: this one is the stack's own."


class JobQueues(NamedTuple):
    """The queues that jobs may send to.

    `arns` are the patterns that the stack's parameter TargetQueueArns lists. `own` are the URLs of the
    stack's own queues, which no job may name. The policy of the delivery function's role holds the same list
    of ARNs. AWS enforces that policy, whatever is decided here.
    """

    own: Collection[str] = ()
    arns: tuple[str, ...] = ()

    @property
    def by_role(self) -> "JobQueues":
        """The queues that jobs may send to with a role. The role's own policy decides, and not the list.

        The stack's own queues are nobody's target.
        """
        return self._replace(arns=("*",))

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
    that jobs may name. `listed` has the patterns of ARNs that each other parameter of the stack lists, by the
    parameter's name, such as `TargetFunctionArns`. A parameter that is not there lists nothing. `private` are
    the networks in which HTTP targets may have private addresses. `destinations` are the stack's lists of
    hosts and networks of HTTP targets; None if it has none. `stack_name` is the name of the stack, with which
    the names of its own functions begin.
    """

    allow_insecure: bool = False
    queues: JobQueues = NO_QUEUE
    listed: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    private: Networks = ()
    destinations: "Destinations | None" = None
    stack_name: str = ""

    def lists(self, parameter: str, arn: str) -> bool:
        """Whether a parameter of the stack lists a pattern that the ARN matches."""
        return matches_any(self.listed.get(parameter, ()), arn)


def not_listed(queue: QueueUrl) -> str:
    """The sentence that says that the stack may not send to a queue, and what its operator can do."""
    return (
        f"This stack may not send to {queue.arn}: give a queue that its parameter TargetQueueArns names, "
        "or have its operator add this one there."
    )


def _allows(arn: str, queue: QueueUrl) -> bool:
    if queue.region is not None:
        return matches(arn, queue.arn)
    # The URL of a local engine's queue has no region, and not always an account. So only names are compared.
    return matches(arn.rpartition(":")[2], queue.name)
