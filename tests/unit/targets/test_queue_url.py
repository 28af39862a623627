"""Which URLs name an SQS queue."""

import pytest
from tests.fakes.targets import SQS, pointers

from sweephand.targets.queue_url import read_queue_url
from sweephand.targets.url import UrlError


@pytest.mark.parametrize(
    "url",
    [
        None,
        "name",
        "arn:aws:sqs:eu-west-1:123456789012:name",
        "http://sqs.eu-west-1.amazonaws.com/123456789012/name",
        "https://sqs.eu-west-1.amazonaws.com:444/123456789012/name",
        "https://sqs.eu-west-1.amazonaws.com/12345/name",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/name/more",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/name?Action=DeleteQueue",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/" + "n" * 81,
        "https://sqs.eu-west-1.amazonaws.com/123456789012/" + "n" * 76 + ".fifo",
        "https://sqs.eu-west-1.amazonaws.com.evil.example/123456789012/name",
        "https://evil.example/123456789012/name",
        "https://127.0.0.1:4566/000000000000/name",
    ],
)
def test_a_queue_url_that_is_not_aws_s_is_refused(url: object) -> None:
    assert pointers(SQS | {"queueUrl": url}) == ["/target/queueUrl"]


def test_an_insecure_stack_takes_a_local_engines_queue_and_aws_s_own_as_strictly_as_ever() -> None:
    local = "http://127.0.0.1:4566/000000000000/name"
    assert read_queue_url(local, allow_insecure=True) == (local, None)
    assert read_queue_url(SQS["queueUrl"], allow_insecure=True).region == "eu-west-1"
    with pytest.raises(UrlError):
        read_queue_url("https://sqs.eu-west-1.amazonaws.com/x/name", allow_insecure=True)
