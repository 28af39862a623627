"""The operations of EventBridge Scheduler on schedule groups and their tags."""

from functools import partial
from typing import Any, Final

from sweephand.base.errors import NotFoundError, RateError
from sweephand.base.instants import SECOND_MS
from sweephand.base.names import EVERY_NAMESPACE
from sweephand.jobs.eventbridge.written import written_of
from sweephand.jobs.read import Filter
from sweephand.model.schedule_group import DEFAULT_GROUP, ScheduleGroup
from sweephand.web.http import cursor
from sweephand.web.http.operation import Accepts, Access, NoQuery, Operation, Reply, Request, Run, Services
from sweephand.web.scheduler.errors import aws_refusal
from sweephand.web.scheduler.places import group_arn, group_of, new_name, own_group, position
from sweephand.web.scheduler.requests import (
    TAGS_MAX,
    GroupBody,
    GroupsQuery,
    TagBody,
    TagsBody,
    TokenQuery,
    UntagQuery,
)

_PATH: Final = "/v1/scheduler/schedule-groups"
_ONE: Final = f"{_PATH}/{{name}}"
#: Begins the position in a list, since the one after the group `default` has no name.
_AFTER: Final = "after:"
_TAGS: Final = "/v1/scheduler/tags/{arn}"

_operation = partial(Operation, tag="Scheduler", returns={}, refuses=aws_refusal)


@partial(_operation, method="POST", path=_ONE, access="write", accepts=Accepts(GroupBody, required=False))
def create_schedule_group(services: Services, request: Request[NoQuery, GroupBody]) -> Reply:
    """CreateScheduleGroup. The group is a namespace, which need not be new."""
    name = own_group(request, new_name(request))
    services.schedule_groups.create(name, _tags(request.body.tags))
    services.namespaces.enlist(name)
    return Reply(200, {"ScheduleGroupArn": group_arn(request.function_arn, name)})


@partial(_operation, method="GET", path=_ONE, access="read")
def get_schedule_group(services: Services, request: Request[NoQuery, None]) -> Reply:
    """GetScheduleGroup."""
    group = services.schedule_groups.get(own_group(request, request.path["name"]))
    return Reply(200, _shown(request, group))


@partial(_operation, method="DELETE", path=_ONE, access="write", query=TokenQuery)
def delete_schedule_group(services: Services, request: Request[TokenQuery, None]) -> Reply:
    """DeleteScheduleGroup. Its schedules are deleted, and other jobs of the namespace stay.

    Of many schedules a call deletes some, and asks to be sent again, as the SDK does.
    """
    group = services.schedule_groups.begin_deletion(own_group(request, request.path["name"]))
    done = services.bulk.delete(
        Filter(group.name), who=request.caller.key_id, only=lambda job: written_of(job.definition) is not None
    )
    if done.reached is not None:
        raise RateError(f"{done.count} schedules are deleted, and there are more. Send the request again.", 1)
    services.schedule_groups.end_deletion(group)
    return Reply(200, {})


@partial(_operation, method="GET", path=_PATH, access="any", query=GroupsQuery)
def list_schedule_groups(services: Services, request: Request[GroupsQuery, None]) -> Reply:
    """ListScheduleGroups. The group `default` comes first."""
    query, groups = request.query, services.schedule_groups
    own = request.caller.namespace
    if own != EVERY_NAMESPACE:
        try:
            found = [groups.get(own)] if own.startswith(query.name_prefix) else []
        except NotFoundError:
            found = []
        return Reply(200, {"ScheduleGroups": [_shown(request, each) for each in found]})
    after = position("groups", query.next_token)
    is_first = after is None and DEFAULT_GROUP.startswith(query.name_prefix)
    found = [groups.get(DEFAULT_GROUP)] if is_first else []
    reached: str | None = (after or "").removeprefix(_AFTER)
    if room := query.max_results - len(found):
        page = groups.page(query.name_prefix, reached or "", room)
        found += [each for each in page.items if each.name != DEFAULT_GROUP]
        reached = page.next
    answer: dict[str, Any] = {"ScheduleGroups": [_shown(request, each) for each in found]}
    if reached is not None:
        answer["NextToken"] = cursor.encode("groups", _AFTER + reached)
    return Reply(200, answer)


def _on_tags(run: Run, method: str, access: Access, **more: Any) -> tuple[Operation, ...]:
    """The operations of one call on tags: a gateway may have decoded the slashes in the ARN."""
    paths = (_TAGS, f"{_TAGS}/{{group}}", f"{_TAGS}/{{group}}/{{schedule}}")
    return tuple(_operation(run, method=method, access=access, path=path, **more) for path in paths)


def list_tags(services: Services, request: Request[NoQuery, None]) -> Reply:
    """ListTagsForResource."""
    group = services.schedule_groups.get(own_group(request, _tagged(request)))
    return Reply(200, {"Tags": [{"Key": key, "Value": value} for key, value in group.tags.items()]})


def tag(services: Services, request: Request[NoQuery, TagsBody]) -> Reply:
    """TagResource."""
    services.schedule_groups.tag(own_group(request, _tagged(request)), _tags(request.body.tags), TAGS_MAX)
    return Reply(200, {})


def untag(services: Services, request: Request[UntagQuery, None]) -> Reply:
    """UntagResource."""
    services.schedule_groups.untag(own_group(request, _tagged(request)), request.query.tag_keys)
    return Reply(200, {})


GROUPS: Final[tuple[Operation, ...]] = (
    create_schedule_group,
    get_schedule_group,
    delete_schedule_group,
    list_schedule_groups,
    *_on_tags(list_tags, "GET", "any"),
    *_on_tags(tag, "POST", "write", accepts=Accepts(TagsBody)),
    *_on_tags(untag, "DELETE", "write", query=UntagQuery),
)


def _tagged(request: Request[Any, Any]) -> str:
    return group_of("/".join(request.path.values()))


def _tags(tags: list[TagBody]) -> dict[str, str]:
    return {each.key: each.value for each in tags}


def _shown(request: Request[Any, Any], group: ScheduleGroup) -> dict[str, Any]:
    return {
        "Arn": group_arn(request.function_arn, group.name),
        "Name": group.name,
        "State": "DELETING" if group.is_deleting else "ACTIVE",
        "CreationDate": group.created_at / SECOND_MS,
        "LastModificationDate": group.updated_at / SECOND_MS,
    }
