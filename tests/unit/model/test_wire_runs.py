"""Messages of a run and of a watch read back as they were written."""

import json

import pytest
from tests.fakes.messages import MESSAGE, NOON

from sweephand.base.errors import PoisonError
from sweephand.model.job import JobKey
from sweephand.model.trigger import DeadlineMessage, FailureMessage, NotifyMessage
from sweephand.model.watch import Alert, WatchMessage
from sweephand.model.wire import decode, encode
from sweephand.schedules import Occurrence, Series

DEADLINE = DeadlineMessage(MESSAGE.trigger, 2, "o" * 16, 3, not_before=1_795_262_405_000, faults=1)
FAILURE = FailureMessage(MESSAGE.trigger, 2, "out of \ud800 paper", is_final=True, not_before=5, faults=1)

NOTICE = NotifyMessage(MESSAGE.trigger, "failed", 2, None, 7, 503, "no", not_before=8, faults=1)


def test_a_notification_carries_the_result_of_its_run_as_it_was_written() -> None:
    assert '"result"' not in encode(NOTICE)
    notice = NOTICE._replace(result='{"n": 1.10}')
    assert decode(encode(notice)) == notice
    for odd in (7, "{", '"' + "x" * 2_048 + '"'):
        with pytest.raises(PoisonError):
            decode(encode(NOTICE)[:-1] + f',"result":{json.dumps(odd)}}}')


def test_the_wire_form_of_the_messages_of_a_watch_never_changes() -> None:
    series = Series("@every 5m", "UTC", NOON)
    check = WatchMessage(
        JobKey("ns", "job"), "uid", "1-a", series, Occurrence(NOON, 1), NOON + 1, 5, 60_000, NOON + 2, 7
    )
    assert encode(check) == (
        '{"v":1,"kind":"watch","ns":"ns","job":"job","uid":"uid","rev":"1-a","armed":7,'
        f'"series":{{"schedule":"@every 5m","timezone":"UTC","startAt":{NOON}}},"first":{{"d":{NOON},"q":1}},'
        f'"until":{NOON + 1},"since":5,"after":60000,"at":{NOON + 2}}}'
    )
    alert = encode(NOTICE._replace(alert=Alert(1, 2, 3, 4)))
    assert alert.startswith('{"v":1,"kind":"notify",')
    assert alert.endswith(',"alert":{"w":1,"n":2,"f":3,"l":4}}')


def test_the_wire_form_of_the_messages_of_a_run_never_changes() -> None:
    of_trigger = encode(MESSAGE).removeprefix('{"v":1,"kind":"trigger",').partition(',"at"')[0]
    assert encode(DEADLINE) == (
        f'{{"v":1,"kind":"deadline",{of_trigger},"at":1795262405000,"attempt":2,"owner":"oooooooooooooooo",'
        '"shard":3,"faults":1}'
    )
    assert encode(FAILURE) == (
        f'{{"v":1,"kind":"failure",{of_trigger},"at":5,"attempt":2,"reason":"out of \\ud800 paper",'
        '"final":true,"faults":1}'
    )
    assert encode(NOTICE) == (
        f'{{"v":1,"kind":"notify",{of_trigger},"at":8,"state":"failed","attempts":2,"ended":7,'
        '"code":503,"reason":"no","faults":1}'
    )
