"""Which queues a job may name, by the ARNs that the stack lists."""

import pytest
from tests.fakes.targets import SQS, pointers

from sweephand.runtime.settings import Settings, SettingsError
from sweephand.targets.reach import EVERY_QUEUE, NO_QUEUE, JobQueues, read_patterns, read_queue_url
from sweephand.targets.url import UrlError

HOST = "https://sqs.eu-west-1.amazonaws.com"


def allows(arns: str, url: str) -> bool:
    queues = JobQueues(arns=read_patterns(arns))
    return queues.refusal(read_queue_url(url, allow_insecure=True)) is None


@pytest.mark.parametrize(
    ("arns", "path", "is_allowed"),
    [
        ("arn:aws:sqs:eu-west-1:123456789012:sweephand-*", "/123456789012/sweephand-orders", True),
        ("arn:aws:sqs:eu-west-1:123456789012:sweephand-*", "/123456789012/sweephand-orders.fifo", True),
        ("arn:aws:sqs:eu-west-1:123456789012:sweephand-*", "/123456789012/orders", False),
        ("arn:aws:sqs:eu-west-1:123456789012:sweephand-*", "/123456789012/my-sweephand-orders", False),
        ("arn:aws:sqs:eu-west-1:123456789012:sweephand-*", "/999999999999/sweephand-orders", False),
        ("arn:aws:sqs:us-east-1:123456789012:sweephand-*", "/123456789012/sweephand-orders", False),
        ("arn:aws:sqs:*:123456789012:orders", "/123456789012/orders", True),
        ("arn:aws:sqs:eu-west-?:123456789012:orders", "/123456789012/orders", True),
        ("arn:aws:sqs:*:*:*", "/999999999999/x", True),
        ("arn:aws-cn:sqs:*:*:*", "/999999999999/x", False),
        ("arn:aws:sns:*:*:*", "/999999999999/x", False),
        ("*", "/999999999999/x", True),
        ("", "/123456789012/sweephand-orders", False),
        ("arn:aws:sqs:eu-west-1:123456789012:a.b", "/123456789012/a_b", False),
        (" arn:aws:sqs:eu-west-1:123456789012:a ,, arn:aws:sqs:*:*:b ", "/123456789012/a", True),
        (" arn:aws:sqs:eu-west-1:123456789012:a ,, arn:aws:sqs:*:*:b ", "/123456789012/b", True),
        (" arn:aws:sqs:eu-west-1:123456789012:a ,, arn:aws:sqs:*:*:b ", "/123456789012/c", False),
    ],
)
def test_a_queue_is_allowed_by_its_arn(arns: str, path: str, *, is_allowed: bool) -> None:
    assert allows(arns, HOST + path) == is_allowed


@pytest.mark.parametrize(
    ("url", "arn"),
    [
        (f"{HOST}/123456789012/a", "arn:aws:sqs:eu-west-1:123456789012:a"),
        ("https://eu-west-1.queue.amazonaws.com/123456789012/a", "arn:aws:sqs:eu-west-1:123456789012:a"),
        (
            "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/a",
            "arn:aws-cn:sqs:cn-north-1:123456789012:a",
        ),
        (
            "https://sqs.us-gov-west-1.amazonaws.com/123456789012/a",
            "arn:aws-us-gov:sqs:us-gov-west-1:123456789012:a",
        ),
        (
            "https://sqs.eusc-de-east-1.amazonaws.eu/123456789012/a",
            "arn:aws-eusc:sqs:eusc-de-east-1:123456789012:a",
        ),
    ],
)
def test_a_url_says_which_queue_it_is(url: str, arn: str) -> None:
    assert read_queue_url(url, allow_insecure=False).arn == arn
    assert allows(arn, url)


@pytest.mark.parametrize(
    ("name", "is_allowed"), [("sweephand-demo", True), ("orders", False), ("sweephand-a.fifo", True)]
)
@pytest.mark.parametrize("host", ["http://127.0.0.1:4700/000000000000/", "http://localhost:9324/queue/"])
def test_queues_of_a_local_engine_are_compared_by_their_names(
    host: str, name: str, *, is_allowed: bool
) -> None:
    assert allows("arn:aws:sqs:eu-west-1:123456789012:sweephand-*", host + name) == is_allowed


def test_a_refusal_names_the_parameter_the_queue_and_the_mend() -> None:
    queue = read_queue_url(f"{HOST}/123456789012/orders", allow_insecure=False)
    assert NO_QUEUE.refusal(queue) == (
        "This stack may not send to arn:aws:sqs:eu-west-1:123456789012:orders: give a queue that its "
        "parameter TargetQueueArns names, or have its operator add this one there."
    )


def test_the_stack_s_own_queues_are_refused_whatever_is_listed() -> None:
    own = f"{HOST}/123456789012/sweephand-delivery"
    queue = read_queue_url(
        "https://eu-west-1.queue.amazonaws.com/123456789012/sweephand-delivery", allow_insecure=False
    )
    assert (
        EVERY_QUEUE._replace(own=(own,)).refusal(queue)
        == "Give a queue of yours: this one is the stack's own."
    )


OWN = "http://127.0.0.1:4700/000000000000/sweephand-delivery"


@pytest.mark.parametrize(
    "url",
    [
        OWN,
        "http://localhost:4700/000000000000/sweephand-delivery",
        "http://LOCALHOST:1/000000000000/sweephand-delivery",
        "https://127.0.0.1/000000000000/sweephand-delivery",
        "http://127.0.0.1:4700/sweephand-delivery",
        "http://127.0.0.1:4700/queue/sweephand-delivery",
        "http://127.0.0.1:4700/queue/us-east-1/000000000000/sweephand-delivery",
        "http://127.0.0.1:4700/a/../sweephand-delivery",
        "http://queue.amazonaws.com/111111111111/sweephand-delivery",
        "https://sqs.us-east-1.amazonaws.com/111111111111/sweephand-delivery",
    ],
)
def test_no_spelling_of_a_url_leads_to_a_queue_of_a_local_stack(url: str) -> None:
    queue = read_queue_url(url, allow_insecure=True)
    for allowed in (EVERY_QUEUE, EVERY_QUEUE.by_role):
        assert allowed._replace(own=(OWN,)).refusal(queue) is not None


@pytest.mark.parametrize(
    "url",
    [
        f"{OWN}/",
        f"{OWN}?x",
        f"{OWN}#x",
        OWN.replace("delivery", "d%65livery"),
        OWN.replace("delivery", "delivery;x"),
        OWN.replace("/000000000000", "//000000000000"),
        OWN.replace("/sweephand", "%2fsweephand"),
    ],
)
def test_a_url_that_programs_could_read_as_another_queue_names_none(url: str) -> None:
    with pytest.raises(UrlError):
        read_queue_url(url, allow_insecure=True)


@pytest.mark.parametrize(
    ("url", "is_own"),
    [
        (f"{HOST}/123456789012/sweephand-delivery", True),
        ("https://SQS.EU-WEST-1.amazonaws.com/123456789012/sweephand-delivery", True),
        ("https://sqs-fips.eu-west-1.api.aws:443/123456789012/sweephand-delivery", True),
        (f"{HOST}/123456789012/sweephand-delivery2", False),
        (f"{HOST}/999999999999/sweephand-delivery", False),
    ],
)
def test_a_queue_in_aws_is_the_stack_s_own_by_its_account_and_its_name(url: str, *, is_own: bool) -> None:
    queue = read_queue_url(url, allow_insecure=False)
    own = f"{HOST}/123456789012/sweephand-delivery"
    assert (EVERY_QUEUE._replace(own=(own,)).refusal(queue) is not None) == is_own


def test_a_function_without_a_list_of_queues_may_send_to_none_and_an_invalid_list_is_refused() -> None:
    assert Settings.read({}).queues.arns == ()
    told = {
        "TARGET_QUEUE_ARNS": "arn:aws:sqs:eu-west-1:1:a, arn:aws:sqs:*:1:b-?",
        "DELIVERY_QUEUE_URL": "https://d",
        "DEAD_LETTER_QUEUE_URL": "https://l",
        "FLOW_QUEUE_URL": "https://f",
    }
    assert Settings.read(told).queues == JobQueues(
        ("https://d", "https://l", "https://f"), ("arn:aws:sqs:eu-west-1:1:a", "arn:aws:sqs:*:1:b-?")
    )
    for wrong in ("sweephand-*", "https://sqs.eu-west-1.amazonaws.com/1/a", "arn:aws:sqs:eu-west-1:1"):
        with pytest.raises(SettingsError, match="TARGET_QUEUE_ARNS must be a list of ARNs"):
            Settings.read({"TARGET_QUEUE_ARNS": f"arn:aws:sqs:*:1:a, {wrong}"})


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
