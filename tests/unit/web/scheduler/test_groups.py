"""Schedule groups, their tags, lists over several groups, and what each caller sees."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from botocore.config import Config
from tests.fakes.http_events import JOB, ONE_REQUEST, READER, STRANGER, WRITER, Client, event_of
from tests.fakes.scheduler_calls import PLACE, refused, schedule, scheduler_of, shown

TAGS = [{"Key": "team", "Value": "ops"}]
MISSING = ("ResourceNotFoundException", "Schedule group billing does not exist.")


def names(scheduler: Any, **query: Any) -> list[str]:
    """The schedules of a whole list, as group and name."""
    found: list[str] = []
    more: dict[str, Any] = {}
    while True:
        page = scheduler.list_schedules(**query, **more)
        found += [f"{each['GroupName']}/{each['Name']}" for each in page["Schedules"]]
        if "NextToken" not in page:
            return found
        more = {"NextToken": page["NextToken"]}


def groups(scheduler: Any, **query: Any) -> list[str]:
    pages = scheduler.get_paginator("list_schedule_groups").paginate(**query)
    return [each["Name"] for page in pages for each in page["ScheduleGroups"]]


def test_a_group_is_a_namespace_with_tags(scheduler: Any, api: Client) -> None:
    arn = scheduler.create_schedule_group(Name="billing", Tags=TAGS)["ScheduleGroupArn"]
    assert arn == f"arn:aws:scheduler:{PLACE}:schedule-group/billing"
    found = shown(scheduler.get_schedule_group(Name="billing"))
    assert (found["Arn"], found["Name"], found["State"]) == (arn, "billing", "ACTIVE")
    assert scheduler.list_tags_for_resource(ResourceArn=arn)["Tags"] == TAGS
    scheduler.create_schedule(**schedule(GroupName="billing"))
    assert api.send("GET", "/v1/namespaces/billing/jobs/nightly").status == 200
    assert "billing" in [each["namespace"] for each in api.send("GET", "/v1/namespaces").json["items"]]
    taken = ("ConflictException", "Schedule group billing already exists.")
    assert refused(scheduler.create_schedule_group, Name="billing") == taken
    assert refused(scheduler.create_schedule_group, Name="default")[0] == "ConflictException"


def test_a_schedule_needs_its_group(scheduler: Any) -> None:
    assert refused(scheduler.create_schedule, **schedule(GroupName="billing")) == MISSING
    assert refused(scheduler.list_schedules, GroupName="billing") == MISSING
    assert refused(scheduler.get_schedule_group, Name="billing") == MISSING
    assert refused(scheduler.delete_schedule_group, Name="billing") == MISSING


def test_tags_of_a_group_change(scheduler: Any) -> None:
    arn = scheduler.create_schedule_group(Name="billing", Tags=TAGS)["ScheduleGroupArn"]
    scheduler.tag_resource(
        ResourceArn=arn, Tags=[{"Key": "team", "Value": "web"}, {"Key": "a b", "Value": "c"}]
    )
    tags = scheduler.list_tags_for_resource(ResourceArn=arn)["Tags"]
    assert tags == [{"Key": "team", "Value": "web"}, {"Key": "a b", "Value": "c"}]
    scheduler.untag_resource(ResourceArn=arn, TagKeys=["team", "none"])
    assert scheduler.list_tags_for_resource(ResourceArn=arn)["Tags"] == tags[1:]
    many = [{"Key": str(number), "Value": "x"} for number in range(200)]
    assert refused(scheduler.tag_resource, ResourceArn=arn, Tags=many)[0] == "ConflictException"
    other = arn.replace("schedule-group/billing", "schedule/default/nightly")
    assert refused(scheduler.list_tags_for_resource, ResourceArn=other)[0] == "ValidationException"


def test_the_default_group_can_have_tags_and_cannot_be_deleted(scheduler: Any) -> None:
    arn = f"arn:aws:scheduler:{PLACE}:schedule-group/default"
    scheduler.tag_resource(ResourceArn=arn, Tags=TAGS)
    assert scheduler.list_tags_for_resource(ResourceArn=arn)["Tags"] == TAGS
    assert groups(scheduler) == ["default"]
    assert refused(scheduler.delete_schedule_group, Name="default")[0] == "ValidationException"


def test_a_gateway_may_leave_the_path_of_tags_encoded(scheduler: Any, api: Client) -> None:
    arn = scheduler.create_schedule_group(Name="billing", Tags=TAGS)["ScheduleGroupArn"]
    event = event_of("GET", "/")
    path = f"/v1/scheduler/tags/{quote(arn, safe='')}"
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    with ONE_REQUEST:
        answer = api.handler(event, None)
    assert json.loads(answer["body"]) == {"Tags": TAGS}


def test_a_deleted_group_takes_its_schedules_and_leaves_other_jobs(scheduler: Any, api: Client) -> None:
    scheduler.create_schedule_group(Name="ns")
    for name in ("a", "b"):
        scheduler.create_schedule(**schedule(name, GroupName="ns"))
    api.put("other", JOB)
    scheduler.delete_schedule_group(Name="ns")
    assert refused(scheduler.get_schedule_group, Name="ns")[0] == "ResourceNotFoundException"
    assert [each["name"] for each in api.send("GET", "/v1/namespaces/ns/jobs").json["items"]] == ["other"]


def test_a_group_with_many_schedules_is_deleted_by_calls_that_are_repeated(
    scheduler: Any, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweephand.jobs.read.BULK_EXAMINED_MAX", 2)
    scheduler.create_schedule_group(Name="ns")
    for name in "abcde":
        scheduler.create_schedule(**schedule(name, GroupName="ns"))
    code, said = refused(
        scheduler_of(api, config=Config(retries={"total_max_attempts": 1})).delete_schedule_group, Name="ns"
    )
    assert (code, said[:24]) == ("ThrottlingException", "2 schedules are deleted,")
    assert scheduler.get_schedule_group(Name="ns")["State"] == "DELETING"
    assert refused(scheduler.create_schedule, **schedule("f", GroupName="ns"))[0] == "ConflictException"
    scheduler.delete_schedule_group(Name="ns")
    assert refused(scheduler.get_schedule_group, Name="ns")[0] == "ResourceNotFoundException"


def test_lists_go_through_all_groups_in_pages(scheduler: Any, api: Client) -> None:
    wanted = []
    all_groups = ("default", "a", "billing", "empty", "z")
    for group in all_groups:
        if group != "default":
            scheduler.create_schedule_group(Name=group)
        for name in ("one", "other", "two") if group != "empty" else ():
            state = {"State": "DISABLED"} if name == "two" else {}
            scheduler.create_schedule(**schedule(name, GroupName=group, **state))
            wanted.append(f"{group}/{name}")
    api.send("PUT", "/v1/namespaces/billing/jobs/none", JOB)
    for most in (1, 2, 5, 100):
        assert names(scheduler, MaxResults=most) == wanted
        assert names(scheduler, MaxResults=most, State="DISABLED") == wanted[2::3]
        assert names(scheduler, MaxResults=most, NamePrefix="o") == [each for each in wanted if "/o" in each]
        assert names(scheduler, MaxResults=most, GroupName="billing", State="ENABLED") == wanted[6:8]
        assert groups(scheduler, PaginationConfig={"PageSize": most}) == [
            "default",
            "a",
            "billing",
            "empty",
            "z",
        ]
    assert groups(scheduler, NamePrefix="b") == ["billing"]
    for call in (scheduler.list_schedules, scheduler.list_schedule_groups):
        assert refused(call, NextToken="x")[0] == "ValidationException"


def test_a_caller_of_one_namespace_sees_its_group_alone(scheduler: Any, api: Client) -> None:
    for group in ("ns", "other"):
        scheduler.create_schedule_group(Name=group)
        scheduler.create_schedule(**schedule(GroupName=group))
    mine = scheduler_of(api, WRITER)
    assert (names(mine), groups(mine)) == (["ns/nightly"], ["ns"])
    mine.update_schedule(**schedule(GroupName="ns", Description="mine"))
    for call, arguments in (
        (mine.get_schedule, {"Name": "nightly", "GroupName": "other"}),
        (mine.delete_schedule, {"Name": "nightly", "GroupName": "other"}),
        (mine.create_schedule, schedule("x", GroupName="other")),
        (mine.create_schedule, schedule("x")),
        (mine.get_schedule_group, {"Name": "other"}),
        (mine.delete_schedule_group, {"Name": "other"}),
        (mine.list_schedules, {"GroupName": "other"}),
        (mine.tag_resource, {"ResourceArn": f"arn:aws:scheduler:{PLACE}:schedule-group/other", "Tags": TAGS}),
    ):
        assert refused(call, **arguments)[0] == "ResourceNotFoundException"
    stranger = scheduler_of(api, STRANGER)
    assert (names(stranger), groups(stranger)) == ([], [])


def test_a_caller_that_may_only_read_writes_nothing(scheduler: Any, api: Client) -> None:
    scheduler.create_schedule_group(Name="ns")
    scheduler.create_schedule(**schedule(GroupName="ns"))
    reader = scheduler_of(api, READER)
    assert reader.get_schedule(Name="nightly", GroupName="ns")["Name"] == "nightly"
    for call, arguments in (
        (reader.create_schedule, schedule("x", GroupName="ns")),
        (reader.update_schedule, schedule(GroupName="ns")),
        (reader.delete_schedule, {"Name": "nightly", "GroupName": "ns"}),
        (reader.create_schedule_group, {"Name": "ns"}),
        (reader.delete_schedule_group, {"Name": "ns"}),
    ):
        assert refused(call, **arguments)[0] == "AccessDeniedException"
