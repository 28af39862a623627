"""After an outage of the whole stack, each mode of catch-up fires the missed triggers that it promises."""

from typing import Any

import pytest
from tests.e2e.deliveries import assert_signed_and_on_time, dues_of, instant
from tests.e2e.outage import MISSED, MODES, Outage
from tests.e2e.schedule import eventually

from sweephand.base.instants import MINUTE_MS, rfc3339

pytestmark = pytest.mark.comes_last


@pytest.fixture(scope="module")
def survived(outage: Outage) -> Outage:
    """The outage, when it is over."""
    outage.wait_for_its_end()
    return outage


def told_of(outage: Outage, name: str) -> list[Any]:
    """The runs of a job, the first due time first, as soon as they account for all that was due."""
    runs: list[Any] = eventually(
        lambda: [outage.scene.schedule.runs(name)],
        lambda runs: sum(run.get("count", 1) for run in runs) >= len(outage.dues),
        within_s=90,
    )
    return runs[::-1]


@pytest.mark.parametrize(
    ("mode", "skipped"), [("latest", MISSED - 1), ("all", 0), ("none", MISSED)], ids=MODES
)
def test_misfires_of_an_outage_fire_as_catch_up_says_and_one_record_holds_the_skipped_ones(
    survived: Outage, mode: str, skipped: int
) -> None:
    told = told_of(survived, mode)
    fired = survived.dues[skipped:]
    deliveries = survived.scene.receiver.deliveries(f"/{mode}")
    assert dues_of(deliveries) == list(fired)
    assert all(each.is_signed for each in deliveries)
    assert [run["dueAt"] for run in told if run["state"] == "succeeded"] == [rfc3339(due) for due in fired]
    records = [run for run in told if run["state"] == "skipped"]
    assert len(records) == (skipped > 0)
    for record in records:
        assert (record["reason"], record["count"], record["sequence"]) == ("misfire", skipped, 1)
        assert instant(record["dueAt"]) == survived.dues[0]
        assert instant(record["lastDueAt"]) == survived.dues[skipped - 1]


def test_a_trigger_that_was_in_the_queue_before_the_outage_is_no_misfire(survived: Outage) -> None:
    (delivery,) = survived.scene.receiver.wait("/sent", 1, within_s=90)
    assert delivery.is_signed
    assert survived.scene.schedule.state_of("sent", "succeeded")["latenessMs"] > MINUTE_MS


def test_after_an_outage_the_stack_delivers_a_new_job_on_time(survived: Outage) -> None:
    survived.scene.schedule.put("after", dueTime="2s", target=survived.scene.target("after"))
    assert_signed_and_on_time(survived.scene.receiver.wait("/after", 1, within_s=90)[0])
