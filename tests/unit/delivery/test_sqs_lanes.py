"""Lanes: each has a queue, and a receipt leads back to the queue of its message."""

import pytest

from sweephand.model.policy_names import LANES, Lane, Lanes

BASE = "https://sqs.eu-west-1.amazonaws.com/123456789012/stack-"
ARN = "arn:aws:sqs:eu-west-1:123456789012:stack-"
ALL: frozenset[Lane] = frozenset({"high", "low", "policy"})
ON = Lanes(f"{BASE}normal", f"{BASE}high", f"{BASE}low", f"{BASE}policy", ALL)
CLOSED = ON._replace(open=frozenset())


def test_each_lane_that_is_open_has_its_queue() -> None:
    assert [ON.url_of(each) for each in LANES] == [f"{BASE}{each}" for each in LANES]
    of_policies = ON._replace(open=frozenset({"policy"}))
    assert [of_policies.url_of(each) for each in ("high", "policy")] == [f"{BASE}normal", f"{BASE}policy"]


@pytest.mark.parametrize("lanes", [CLOSED, Lanes(f"{BASE}normal")])
def test_lanes_that_are_closed_share_a_queue(lanes: Lanes) -> None:
    assert {lanes.url_of(each) for each in LANES} == {f"{BASE}normal"}


@pytest.mark.parametrize("lanes", [ON, CLOSED])
def test_a_receipt_leads_to_the_queue_in_which_its_message_was_received(lanes: Lanes) -> None:
    """Also while the lanes are drained, and nothing more is sent to them."""
    receipts = [
        lanes.receipt(f"handle+/{name}=", ARN + name) for name in ("low", "normal", "high", "policy", "low")
    ]
    assert lanes.by_url(receipts) == {
        f"{BASE}low": ["handle+/low=", "handle+/low="],
        f"{BASE}normal": ["handle+/normal="],
        f"{BASE}high": ["handle+/high="],
        f"{BASE}policy": ["handle+/policy="],
    }


def test_a_receipt_of_a_stack_without_lanes_is_what_sqs_gave() -> None:
    assert Lanes(f"{BASE}normal").receipt("handle", "") == "handle"
