"""Whatever a caller sends to EventBridge Scheduler's API: an answer in AWS's form, and never a fault."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.http_events import ONE_REQUEST, Client, event_of
from tests.fakes.scheduler_calls import schedule
from tests.fakes.targets import EVERYTHING
from tests.unit.web.strategies import ANYTHING

_PATHS = (
    "/v1/scheduler/schedules/a",
    "/v1/scheduler/schedules",
    "/v1/scheduler/schedule-groups/a",
    "/v1/scheduler/schedule-groups",
    "/v1/scheduler/tags/arn%3Aaws%3Ascheduler%3Aeu-west-1%3A123456789012%3Aschedule-group%2Fdefault",
    "/v1/scheduler/tags/x",
)
_METHODS = ("GET", "POST", "PUT", "DELETE")
_WHOLE = {name: value for name, value in schedule().items() if name != "Name"}
_FIELDS = st.sampled_from(
    [*_WHOLE, "StartDate", "EndDate", "State", "Tags", "Arn", "ClientToken", "GroupName"]
)


@st.composite
def bodies(draw: st.DrawFn) -> Any:
    """A valid schedule of which some fields, or fields of its target, are another value."""
    found: dict[str, Any] = json.loads(json.dumps(_WHOLE))
    for name in draw(st.lists(_FIELDS, max_size=3)):
        holder = draw(st.sampled_from([found, found.get("Target"), found.get("FlexibleTimeWindow")]))
        if isinstance(holder, dict):
            holder[name] = draw(ANYTHING)
    return found


@given(
    method=st.sampled_from(_METHODS),
    path=st.sampled_from(_PATHS),
    query=st.sampled_from(
        ["", "?NextToken=x", "?MaxResults=0", "?TagKeys=a&TagKeys=b", "?groupName=%ff", "?a=b"]
    ),
    body=st.none() | bodies() | ANYTHING,
)
def test_no_request_is_answered_by_a_fault(method: str, path: str, query: str, body: Any) -> None:
    api = Client(listed=EVERYTHING)
    text = None if body is None else json.dumps(body)
    headers = {"content-type": "application/json"} if text is not None else {}
    event = event_of(method, path + query, body=text, headers=headers)
    with ONE_REQUEST:
        answer = api.handler(event, None)
    assert answer["statusCode"] < 500, answer
    is_of_no_operation = answer["headers"]["Content-Type"] == "application/problem+json"
    if answer["statusCode"] >= 400 and not is_of_no_operation:
        assert answer["headers"]["x-amzn-errortype"]
        assert json.loads(answer["body"]).keys() == {"Message"}
