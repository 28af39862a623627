"""Following what CloudFormation does to a stack, event by event."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from sweephand_deploy.errors import LOST, RefusedError, UnreachableError

_POLL_S: Final = 2

#: CloudFormation goes on without us. So a lost connection is waited for this long.
_LOST_S: Final = 900
_RETRY_S: Final = 5

#: A resource that CloudFormation cancels because of another one's failure says nothing of its own.
_CANCELLED: Final = "cancelled"

#: How the statuses end of a resource that CloudFormation has dealt with. It skips what is to stay.
_FINISHED: Final = ("_COMPLETE", "_SKIPPED")


class Follower:
    """Prints the events of one stack that come after now. `say` prints a line, and `pause` waits."""

    def __init__(
        self, cloudformation: Any, stack_id: str, say: Callable[[str], None], pause: Callable[[float], None]
    ) -> None:
        self._cloudformation = cloudformation
        self._stack_id = stack_id
        self._say = say
        self._pause = pause
        self._finished: set[str] = set()
        self._failures: list[str] = []
        self._last = next((each["EventId"] for each in self._newest_first()), None)

    def follow(self, wanted: str | None, resources: Collection[str] = ()) -> None:
        """Print the events until the stack rests, with a count of the `resources` that are done with.

        The stack has to end with the status `wanted`; None stands for any status.
        RefusedError names each resource that failed, with the reason of AWS. UnreachableError if a lost
        connection does not come back.
        """
        lost_s = 0
        while True:
            try:
                # The status is asked for first: all events that led to it are there afterwards.
                [stack] = self._cloudformation.describe_stacks(StackName=self._stack_id)["Stacks"]
                self._print_new(resources)
            except LOST as error:
                if lost_s == 0:
                    self._say("The connection is lost. CloudFormation goes on. Trying again …")
                if lost_s >= _LOST_S:
                    raise UnreachableError(
                        f"AWS does not answer: {error}. CloudFormation goes on. "
                        "Run the command again: it follows what is going on."
                    ) from error
                self._pause(_RETRY_S)
                lost_s += _RETRY_S
                continue
            lost_s = 0
            if not stack["StackStatus"].endswith("_IN_PROGRESS"):
                break
            self._pause(_POLL_S)
        status, reason = stack["StackStatus"], stack.get("StackStatusReason", "")
        if wanted not in (None, status):
            raise RefusedError("\n".join([f"The stack is now {status}. {reason}".rstrip(), *self._failures]))

    def _print_new(self, resources: Collection[str]) -> None:
        for event in reversed(list(self._after_last())):
            self._last = event["EventId"]
            status, name = event["ResourceStatus"], event["LogicalResourceId"]
            reason = event.get("ResourceStatusReason", "")
            if status.endswith(_FINISHED) and name in resources:
                self._finished.add(name)
            if status.endswith("_FAILED") and _CANCELLED not in reason.lower():
                self._failures.append(f"  {name} ({event['ResourceType']}): {reason or status}")
            count = f"[{len(self._finished):>3} of {len(resources)}] " if resources else ""
            self._say(f"{count}{status:<27} {name}  {reason}".rstrip())

    def _after_last(self) -> Iterator[Mapping[str, Any]]:
        for event in self._newest_first():
            if event["EventId"] == self._last:
                return
            yield event

    def _newest_first(self) -> Iterator[Mapping[str, Any]]:
        pages = self._cloudformation.get_paginator("describe_stack_events").paginate(StackName=self._stack_id)
        for page in pages:
            yield from page["StackEvents"]
