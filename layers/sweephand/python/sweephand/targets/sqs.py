"""What a target of type `sqs` takes, and which queue URLs there are: AWS's, and a local engine's."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.base.instants import SECOND_MS
from sweephand.targets.url import UrlError, read_url

FIELDS: Final = ("type", "queueUrl", "messageGroupId")

FIFO_SUFFIX: Final = ".fifo"

#: The two code points that JSON allows in a string and SQS refuses in a body; escaped, they are equal JSON.
ESCAPES: Final = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}

#: An attempt takes at most so long, connections that came to nothing included.
ATTEMPT_MS_MAX: Final = 45 * SECOND_MS

#: The hosts of AWS's partitions (AWS, "Amazon SQS endpoints and quotas"): plain, FIPS, dual-stack, and
#: the older form with `queue`.
_AWS_HOST: Final = re.compile(
    r"(?:sqs(?:-fips)?\.(?P<region>[a-z]{2,5}(?:-[a-z]+){1,3}-[0-9])|(?P<older>[a-z]{2}-[a-z]+-[0-9])\.queue)"
    r"\.(?:amazonaws\.com(?:\.cn)?|amazonaws\.eu|api\.aws|api\.amazonwebservices\.com\.cn)"
)
_AWS_PATH: Final = re.compile(r"/[0-9]{12}/(?P<name>[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo)")
_LOCAL_PATH: Final = re.compile(r"(?:/[A-Za-z0-9_.-]+)*/(?P<name>[A-Za-z0-9_-]{1,75}(?:\.fifo)?)")
_GROUP_ID: Final = re.compile(r"[A-Za-z0-9!\"#$%&'()*+,./:;<=>?@\[\\\]^_`{|}~-]{1,128}")

_RULE: Final = (
    "Give the URL of an SQS queue, for instance https://sqs.eu-west-1.amazonaws.com/123456789012/name."
)


class QueueUrl(NamedTuple):
    """A queue's URL; `region` is None for a local engine's."""

    text: str
    region: str | None

    def is_one_of(self, urls: Collection[str]) -> bool:
        """Whether it is one of those queues, however its host is spelled: account and name tell."""
        return _place(self.text) in {_place(url) for url in urls}

    @property
    def name(self) -> str:
        """The queue's name."""
        return _place(self.text).rpartition("/")[2]

    @property
    def arn(self) -> str:
        """The queue's ARN; for a local engine's queue, which has none, its URL."""
        if self.region is None:
            return self.text
        account = _place(self.text).partition("/")[0]
        return f"arn:{_partition(self.region)}:sqs:{self.region}:{account}:{self.name}"

    @property
    def is_fifo(self) -> bool:
        """Whether the queue keeps an order and takes each deduplication id once."""
        return self.text.endswith(FIFO_SUFFIX)


def read_queue_url(text: object, *, allow_insecure: bool) -> QueueUrl:
    """The queue of that URL; UrlError if it is none.

    It is AWS's, since requests to it are signed with the stack's own rights; with `allow_insecure` it can
    be a local engine's.
    """
    if not isinstance(text, str) or "://" not in text:
        raise UrlError(_RULE)
    url = read_url(text, allow_insecure=allow_insecure)
    host = _AWS_HOST.fullmatch(url.host)
    if host is not None and _AWS_PATH.fullmatch(url.target) and (url.scheme, url.port) == ("https", 443):
        return QueueUrl(text, host["region"] or host["older"])
    if allow_insecure and host is None and _LOCAL_PATH.fullmatch(url.target):
        return QueueUrl(text, None)
    raise UrlError(_RULE)


def _partition(region: str) -> str:
    """The partition of AWS in which a region lies (AWS, "Amazon Resource Names")."""
    for prefix, partition in (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"), ("eusc-", "aws-eusc")):
        if region.startswith(prefix):
            return partition
    return "aws"


def _place(url: str) -> str:
    return "/".join(url.rstrip("/").rsplit("/", 2)[-2:])


def sqs_violations(spec: Mapping[str, Any], *, has_data: bool, allow_insecure: bool) -> list[Violation]:  # noqa: ARG001 - every type is asked alike; a queue takes any data
    """What is wrong with a target of type `sqs`; empty if nothing is. Pointers begin below the target."""
    found: list[Violation] = []
    try:
        read_queue_url(spec.get("queueUrl"), allow_insecure=allow_insecure)
    except UrlError as error:
        found.append(Violation("/queueUrl", str(error)))
    group = spec.get("messageGroupId")
    if group is not None and not (isinstance(group, str) and _GROUP_ID.fullmatch(group)):
        found.append(Violation("/messageGroupId", "Give 1 to 128 letters, digits and punctuation marks."))
    return found


def sqs_time_ms(spec: Mapping[str, Any]) -> int:  # noqa: ARG001 - every type is asked alike; a queue has no time-out
    """How long an attempt may take at most, in ms."""
    return ATTEMPT_MS_MAX
