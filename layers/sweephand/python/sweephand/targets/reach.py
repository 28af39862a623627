"""What jobs may reach: what the parameters of the stack list, but never the stack's own queues."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.targets.url import Networks, UrlError, read_url

if TYPE_CHECKING:
    # Many stacks have no such lists, and the authorizer reads settings without any job.
    from sweephand.model.job import JobKey
    from sweephand.targets.destinations import Destinations

#: An ARN with the wildcards of IAM: `*` stands for any characters, `?` for one.
# re compiles it when it is first used, so that importing this module stays cheap.
_PATTERN: Final = r"\*|[^\s,:]+:[^\s,:]+:[^\s,:]+:[^\s,:]*:[^\s,:]*:[^\s,]+"


def read_patterns(text: str) -> tuple[str, ...]:
    """The patterns in a list that is separated by commas. Spaces and empty parts are dropped.

    Raises ValueError if a part is neither an ARN nor `*`.
    """
    parts = [part.strip() for part in text.split(",")]
    patterns = tuple(part for part in parts if part)
    wrong = next((pattern for pattern in patterns if not re.fullmatch(_PATTERN, pattern)), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is no ARN")
    return patterns


def matches(pattern: str, text: str) -> bool:
    """Whether an ARN, or a part of one, matches a pattern as it does in an IAM policy."""
    return bool(_compiled(pattern).fullmatch(text))


@lru_cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."))


FIFO_SUFFIX: Final = ".fifo"

GROUP_ID_LENGTH_MAX: Final = 128

#: JSON allows these two code points in a string, and SQS refuses a body that holds one. The escaped text is
#: equal JSON.
ESCAPES: Final = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}

#: The hosts of SQS in AWS's partitions (AWS, "Amazon SQS endpoints and quotas"): plain, FIPS, dual-stack, and
#: the older form with `queue`.
_AWS_HOST: Final = (
    r"(?:sqs(?:-fips)?\.(?P<region>[a-z]{2,5}(?:-[a-z]+){1,3}-[0-9])|(?P<older>[a-z]{2}-[a-z]+-[0-9])\.queue)"
    r"\.(?:amazonaws\.com(?:\.cn)?|amazonaws\.eu|api\.aws|api\.amazonwebservices\.com\.cn)"
)
_AWS_PATH: Final = r"/[0-9]{12}/(?P<name>[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo)"
_LOCAL_PATH: Final = r"(?:/[A-Za-z0-9_.-]+)*/(?P<name>[A-Za-z0-9_-]{1,75}(?:\.fifo)?)"

_RULE: Final = (
    "Give the URL of an SQS queue, for instance https://sqs.eu-west-1.amazonaws.com/123456789012/name."
)


class QueueUrl(NamedTuple):
    """The URL of a queue. `region` is None for a queue of a local engine."""

    text: str
    region: str | None

    def is_one_of(self, urls: Collection[str]) -> bool:
        """Whether one of those URLs names the same queue.

        SQS has several hosts for one region, so account and queue name are compared. A local engine finds a
        queue by its name, whatever the rest of its URL is. So only names are compared for its queues.
        """
        return any(self._is_the_queue_of(url) for url in urls)

    def _is_the_queue_of(self, url: str) -> bool:
        mine, other = _account_and_name(self.text), _account_and_name(url)
        if mine.rpartition("/")[2] != other.rpartition("/")[2]:
            return False
        return mine == other or self.region is None or not _is_of_aws(url)

    @property
    def name(self) -> str:
        """The name of the queue."""
        return _account_and_name(self.text).rpartition("/")[2]

    @property
    def arn(self) -> str:
        """The ARN of the queue. A queue of a local engine has no ARN: its URL stands in."""
        if self.region is None:
            return self.text
        account = _account_and_name(self.text).partition("/")[0]
        return f"arn:{_partition(self.region)}:sqs:{self.region}:{account}:{self.name}"


def read_queue_url(text: object, *, allow_insecure: bool) -> QueueUrl:
    """The queue that a URL names.

    Requests to a queue are signed with the rights of the stack, so the host has to be one of AWS. With
    `allow_insecure`, a local engine's queue is allowed too. Raises UrlError for any other value.
    """
    if not isinstance(text, str) or "://" not in text:
        raise UrlError(_RULE)
    url = read_url(text, allow_insecure=allow_insecure)
    host = re.fullmatch(_AWS_HOST, url.host)
    if host is not None and re.fullmatch(_AWS_PATH, url.target) and (url.scheme, url.port) == ("https", 443):
        return QueueUrl(text, host["region"] or host["older"])
    if allow_insecure and host is None and re.fullmatch(_LOCAL_PATH, url.target):
        return QueueUrl(text, None)
    raise UrlError(_RULE)


def group_id(key: "JobKey") -> str:
    """The message group in which a FIFO queue keeps the order of a job's messages.

    It is the job's key, or a digest of the key if the key is longer than SQS allows.
    """
    written = str(key)
    return written if len(written) <= GROUP_ID_LENGTH_MAX else sha256(written.encode()).hexdigest()


def _partition(region: str) -> str:
    """The partition of AWS in which a region lies (AWS, "Amazon Resource Names")."""
    for prefix, partition in (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"), ("eusc-", "aws-eusc")):
        if region.startswith(prefix):
            return partition
    return "aws"


def _is_of_aws(url: str) -> bool:
    return re.match(f"https://{_AWS_HOST}[:/]", url, re.IGNORECASE) is not None


def _account_and_name(url: str) -> str:
    return "/".join(url.rstrip("/").rsplit("/", 2)[-2:])


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
        return any(matches(pattern, arn) for pattern in self.listed.get(parameter, ()))


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
