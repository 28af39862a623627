"""Says what becomes of schedules, for people and for programs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sweephand_client.tasks.eventbridge.translation import Move, Outcome

_ROLES: Final = "TargetRoleArns"

_TITLES: Final[Mapping[Outcome, str]] = {
    "as-it-is": "Moves as it is",
    "changed": "Moves with changes",
    "not-moved": "Cannot be moved",
    "moved-before": "Was moved before",
}


def report_lines(moves: Sequence[Move]) -> list[str]:
    """The report as lines of text. Each sentence stands once, above the schedules that it is about."""
    found = []
    for outcome, title in _TITLES.items():
        own = [each for each in moves if each.outcome == outcome]
        if not own:
            continue
        found.append(f"{title}: {len(own)}")
        for sentence, about in _by_sentence(own).items():
            found += [f"  {sentence} ({len(about)})"] if sentence else []
            found.append(f"    {', '.join(about)}")
    needs = needed(moves)
    if needs["parameters"]:
        found.append("The stack has to allow (docs/reach.md):")
        found += [f"  {name}: {', '.join(arns)}" for name, arns in needs["parameters"].items()]
    if needs["roles"]:
        found.append("Each role has to trust the stack's DeliverRoleArn, with the external id:")
        found += [f"  {arn}: {', '.join(ids)}" for arn, ids in needs["roles"].items()]
    return found


def needed(moves: Iterable[Move]) -> dict[str, dict[str, list[str]]]:
    """What the stack needs: ARNs by the parameter that lists them, and external ids by the role."""
    parameters: dict[str, set[str]] = defaultdict(set)
    roles: dict[str, set[str]] = defaultdict(set)
    for move in moves:
        for name, arn in move.needs:
            parameters[name].add(arn)
            if name == _ROLES:
                # The API writes a namespace so, because IAM takes no tilde.
                roles[arn].add("sweephand/" + move.namespace.replace("~", "/"))
    return {"parameters": _sorted(parameters), "roles": _sorted(roles)}


def report_value(move: Move) -> dict[str, Any]:
    """What becomes of a schedule, as JSON."""
    value: dict[str, Any] = {
        "group": move.schedule.group,
        "name": move.schedule.name,
        "namespace": move.namespace,
        "outcome": move.outcome,
        "changes": [*move.changes],
    }
    return value | ({"reason": move.reason} if move.reason else {})


def _by_sentence(moves: Iterable[Move]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for each in moves:
        for sentence in each.changes or (each.reason,):
            found[sentence].append(f"{each.schedule.group}/{each.schedule.name}")
    return found


def _sorted(found: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    return {name: sorted(values) for name, values in sorted(found.items())}
