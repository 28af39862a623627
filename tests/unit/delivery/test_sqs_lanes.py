"""Lanes: each priority has a queue, and a receipt leads back to the queue of its message."""

import pytest

from sweephand.model.policy import PRIORITIES
from sweephand.model.policy_names import Lanes

BASE = "https://sqs.eu-west-1.amazonaws.com/123456789012/stack-"
ARN = "arn:aws:sqs:eu-west-1:123456789012:stack-"
ON = Lanes(f"{BASE}normal", f"{BASE}high", f"{BASE}low", are_on=True)


def test_each_priority_has_its_queue_if_the_lanes_are_on() -> None:
    assert [ON.url_of(each) for each in PRIORITIES] == [f"{BASE}high", f"{BASE}normal", f"{BASE}low"]


@pytest.mark.parametrize("lanes", [ON._replace(are_on=False), Lanes(f"{BASE}normal")])
def test_all_priorities_share_a_queue_if_the_lanes_are_off(lanes: Lanes) -> None:
    assert {lanes.url_of(each) for each in PRIORITIES} == {f"{BASE}normal"}


@pytest.mark.parametrize("lanes", [ON, ON._replace(are_on=False)])
def test_a_receipt_leads_to_the_queue_in_which_its_message_was_received(lanes: Lanes) -> None:
    """Also while the lanes are drained, and nothing more is sent to them."""
    receipts = [lanes.receipt(f"handle+/{name}=", ARN + name) for name in ("low", "normal", "high", "low")]
    assert lanes.by_url(receipts) == {
        f"{BASE}low": ["handle+/low=", "handle+/low="],
        f"{BASE}normal": ["handle+/normal="],
        f"{BASE}high": ["handle+/high="],
    }


def test_a_receipt_of_a_stack_without_lanes_is_what_sqs_gave() -> None:
    assert Lanes(f"{BASE}normal").receipt("handle", "") == "handle"
