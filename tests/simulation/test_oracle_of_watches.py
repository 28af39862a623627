"""The oracle knows which triggers were missed, and names each watch that errs about them."""

from dataclasses import replace

from tests.simulation.traces.alerts import Alerted
from tests.simulation.traces.broken_watches import ALERT, watched
from tests.simulation.traces.doctored import changed, complaints, of, with_, without
from tests.simulation.traces.stories import NOON, deleted, in_order
from tests.simulation.traces.trace import Requested, RunStored


def test_a_success_in_time_asks_for_no_alert_and_a_deleted_job_for_none() -> None:
    in_time = changed(of(RunStored, run_id=f"{NOON + 180_000}-0", state="succeeded"), ended_at=NOON + 240_000)
    assert complaints(without(of(Alerted))(in_time(watched()))) == []
    gone = without(of(Alerted), of(Requested, due_s=900), of(RunStored, run_id=f"{NOON + 900_000}-0"))
    said = complaints(in_order(gone(watched()), deleted(899)))
    assert not any("alert" in each for each in said)


def test_an_alert_that_is_tried_again_is_one_alert() -> None:
    again = replace(ALERT, at=ALERT.at + 5_000, attempt=2)
    assert complaints(with_(again)(watched())) == []
