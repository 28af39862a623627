"""Which calls of AWS the code of each function can make, found from the code by mypy's types.

A function can make a call if a chain of references leads from its handler to that call. A reference is
enough, because what is passed on may be called. Where a name has the type of a protocol, every class that
fits the protocol may be meant. So a call that is found may never happen. No call that happens is missed,
unless it goes through a value of type Any. Calls of botocore through such values are found by their names.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final, NamedTuple

from tests.template.program import Program

#: The method of Table that makes each action, and the action's name at DynamoDB.
TABLE_ACTIONS: Final[Mapping[str, str]] = {
    "get": "GetItem",
    "put": "PutItem",
    "swap": "PutItem",
    "put_together": "PutItem",  # a transaction needs the rights of what it does
    "add": "UpdateItem",
    "update": "UpdateItem",
    "keep": "UpdateItem",
    "delete": "DeleteItem",
    "query": "Query",
    "get_batch": "BatchGetItem",
    "put_batch": "BatchWriteItem",
}

#: What makes no call by itself.
TABLE_HELPERS: Final = frozenset({"concurrently"})

_TABLE: Final = "sweephand.storage.table.Table"

#: The methods of botocore's other clients that the code calls, and what each asks of a role.
CLIENT_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "send_message": ("sqs:SendMessage",),
    "send_message_batch": ("sqs:SendMessage",),
    "delete_message": ("sqs:DeleteMessage",),
    "delete_message_batch": ("sqs:DeleteMessage",),
    "receive_message": ("sqs:ReceiveMessage",),
    "change_message_visibility": ("sqs:ChangeMessageVisibility",),
    "put_object": ("s3:PutObject",),
    "get_object": ("s3:GetObject", "s3:ListBucket"),  # the latter for an answer of 404 if there is none
    "copy_object": ("s3:GetObject", "s3:PutObject", "s3:PutObjectTagging"),
    "get_object_tagging": ("s3:GetObjectTagging",),
    "list_objects_v2": ("s3:ListBucket",),
    "invoke": ("lambda:InvokeFunction",),
    "publish": ("sns:Publish",),
    "put_events": ("events:PutEvents",),
    "describe_event_bus": ("events:DescribeEventBus",),
    "start_execution": ("states:StartExecution",),
    "AssumeRoleCredentialFetcher": ("sts:AssumeRole",),
    "describe_time_to_live": ("dynamodb:DescribeTimeToLive",),
    "update_time_to_live": ("dynamodb:UpdateTimeToLive",),
}


#: How the partitions of both tables begin, or their whole names.
PARTITIONS: Final = frozenset(
    {
        "adminchanges",
        "allowance#",
        "audits",
        "batches#",
        "calendarcontents#",
        "calendars#",
        "changes",
        "flags#",
        "gate#",
        "jobs#",
        "keys",
        "leases",
        "line#",
        "madekeys#",
        "marks#",
        "named-secrets#",
        "namespace#",
        "namespaces",
        "overlap#",
        "policies#",
        "policychanges",
        "revisions#",
        "runs#",
        "schedulegroups",
        "secrets#",
        "shard#",
        "stats#",
        "waits#",
        "wheel",
    }
)


class Call(NamedTuple):
    """A call of DynamoDB: by which method of an adapter, with which action."""

    method: str
    action: str


class Reached(NamedTuple):
    """What can be reached from a handler: calls of tables, and methods of clients."""

    calls: frozenset[Call]
    clients: frozenset[str]


class Code:
    """The calls in the code of the functions."""

    def __init__(self) -> None:
        self.program = Program(texts=PARTITIONS, client_methods=frozenset(CLIENT_ACTIONS))
        self._nodes = self.program.nodes
        self._reached: dict[str, Reached] = {}

    def from_handler(self, function: str) -> Reached:
        """What the handler of a function can reach; `function` is the name of its folder."""
        if function not in self._reached:
            self._reached[function] = self._search(function)
        return self._reached[function]

    def _search(self, function: str) -> Reached:
        start = f"functions.{function}.handler"
        waiting = [(start, ""), (f"{start}.handler", "")]
        seen: set[tuple[str, str]] = set()
        calls: set[Call] = set()
        clients: set[str] = set()
        while waiting:
            name, method = waiting.pop()
            if (name, method) in seen:
                continue
            seen.add((name, method))
            if name.startswith(f"{_TABLE}."):
                action = TABLE_ACTIONS.get(name.rpartition(".")[2])
                if action is not None:
                    calls.add(Call(method, action))
                continue
            if name not in self._nodes:
                continue
            # Within the storage, a call belongs to the method of the adapter that was entered.
            if not name.startswith("sweephand.storage."):
                method = ""
            elif not method and name.rpartition(".")[0] in self.program.tables:
                method = name
            node = self._nodes[name]
            clients |= node.clients
            waiting += [(each, method) for each in node.names]
        return Reached(frozenset(calls), frozenset(clients))

    def partitions(self, call: Call) -> set[str]:
        """The partitions that a method of an adapter names, itself or by what it uses in the storage."""
        waiting, seen = [call.method], set[str]()
        while waiting:
            name = waiting.pop()
            if name not in seen and name.startswith("sweephand.storage."):
                seen.add(name)
                waiting += self._nodes[name].names if name in self._nodes else ()
        return {each for name in seen if name in self._nodes for each in self._nodes[name].texts}

    def table(self, call: Call) -> str:
        """The function of sweephand.runtime.tables that makes the table of a call."""
        [table] = self.program.tables[call.method.rpartition(".")[0]]
        return table

    @cached_property
    def unknown_methods(self) -> set[str]:
        """The methods of botocore's clients that are in none of the tables here, besides those of Table."""
        attributes = {"exceptions", "meta"}
        found = {name for where, name in self.program.methods if not where.startswith(f"{_TABLE}.")}
        return found - CLIENT_ACTIONS.keys() - attributes
