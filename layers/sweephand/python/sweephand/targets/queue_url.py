"""Which SQS queue a URL names, and what SQS takes: texts, groups and queue names."""

import re
from collections.abc import Collection
from hashlib import sha256
from typing import Final, NamedTuple

from sweephand.model.job import JobKey
from sweephand.targets.url import UrlError, read_url

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

    @property
    def is_fifo(self) -> bool:
        """Whether it is a FIFO queue, which keeps an order and takes each deduplication id once."""
        return self.text.endswith(FIFO_SUFFIX)


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


def group_id(key: JobKey) -> str:
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
