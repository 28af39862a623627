"""The store reads timers in a form that earlier versions wrote."""

from dataclasses import replace
from typing import Any

import pytest
from tests.contract.builders import NOON, UID, deadline_timer, retry_timer
from tests.fakes.engines import Dynamo

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.model.definition import Payload
from sweephand.model.run_id import Demand
from sweephand.model.timer import Cursor, Timer, UnreadTimer
from sweephand.model.trigger import Failure, Redrive

#: What version 1 wrote of the timers that the builders make.
COMMON: dict[str, Any] = {
    "pk": {"S": "shard#0003"},
    "n": {"S": "default"},
    "j": {"S": "backup"},
    "u": {"S": UID},
    "r": {"S": "1-aaaa"},
    "d": {"N": str(NOON - 1_000)},
    "q": {"N": "7"},
    "a": {"N": str(NOON - MINUTE_MS)},
    "i": {"N": "0"},
    "b": {"N": str(NOON)},
    "t": {"N": "2"},
    "x": {"N": "0"},
    "expires_at": {"N": "1796472000"},
}
RETRY: dict[str, Any] = {**COMMON, "f": {"N": str(NOON - 900)}}


def _chained(timer: Any) -> Timer:
    demand = Demand("chained", "a" * 32, 3)
    return retry_timer(trigger=replace(timer.message.trigger, demand=demand))


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (RETRY, retry_timer()),
        (COMMON, retry_timer(first_attempt_at=None)),
        ({**RETRY, "x": {"N": "3"}, "h": {"N": "1"}}, retry_timer(faults=3, had_token=True)),
        ({**RETRY, "w": {"S": f"[2,{NOON - 900}]"}}, retry_timer(redrive=Redrive(2, NOON - 900))),
        ({**RETRY, "k": {"S": f'["chained","{"a" * 32}",3]'}}, _chained(retry_timer())),
        (
            {**RETRY, "p": {"S": f'["{"0" * 64}",5000,null,"ref"]'}},
            retry_timer(payload=Payload("0" * 64, 5_000, None, "ref")),
        ),
        (
            {**RETRY, "e": {"S": '[1,"Response 503.",503,false]'}},
            retry_timer(last_failure=Failure(1, "Response 503.", 503)),
        ),
        ({**COMMON, "o": {"S": "owner00000000001"}}, deadline_timer()),
    ],
)
def test_a_timer_of_version_1_is_read(on_moto: Dynamo, item: dict[str, Any], expected: Timer) -> None:
    sort_key = {"sk": {"S": expected.sort_key}}
    on_moto.client.put_item(TableName=on_moto.timers_table, Item={**item, **sort_key})
    assert on_moto.stores().timers.page(3, Cursor(), NOON + HOUR_MS, 10) == [expected]


@pytest.mark.parametrize("name", ["n", "j", "u", "r", "d", "q", "a", "i", "b", "t", "x"])
def test_a_damaged_timer_of_version_1_is_reported(on_moto: Dynamo, name: str) -> None:
    damaged = {**RETRY, "sk": {"S": retry_timer().sort_key}}
    del damaged[name]
    on_moto.client.put_item(TableName=on_moto.timers_table, Item=damaged)
    (found,) = on_moto.stores().timers.page(3, Cursor(), NOON + HOUR_MS, 10)
    assert isinstance(found, UnreadTimer)
    assert found.why
