"""The cost of a stack by service, which Cost Explorer finds by the stack's tag."""

from collections import defaultdict
from datetime import date, timedelta
from typing import Any

from infra.smoke.account import TAG
from infra.smoke.stage import Aws


def bill(stack: str, aws: Aws, today: date) -> str:
    """A table of dollars by day and service, for the last seven days and today.

    Cost Explorer knows a tag only after it is activated as a cost allocation tag, and is a day late. Each
    query costs $0.01.
    """
    answer = aws.client("ce").get_cost_and_usage(
        TimePeriod={
            "Start": (today - timedelta(days=7)).isoformat(),
            "End": (today + timedelta(days=1)).isoformat(),
        },
        Granularity="DAILY",
        Metrics=["UnblendedCost"],
        Filter={"Tags": {"Key": TAG, "Values": [stack]}},
        GroupBy=[{"Type": "DIMENSION", "Key": "SERVICE"}],
    )
    return table(answer["ResultsByTime"])


def table(days: list[Any]) -> str:
    """Cost Explorer's days as lines: each service of each day, and the sum of each day."""
    lines: list[str] = []
    sums: dict[str, float] = defaultdict(float)
    for day in days:
        start = day["TimePeriod"]["Start"]
        for group in day["Groups"]:
            dollars = float(group["Metrics"]["UnblendedCost"]["Amount"])
            sums[start] += dollars
            lines.append(f"{start}  {dollars:10.6f}  {group['Keys'][0]}")
    lines += [f"{start}  {dollars:10.6f}  in all" for start, dollars in sums.items()]
    hint = f"Nothing is billed to the tag {TAG}: is it activated as a cost allocation tag, and a day old?"
    return "\n".join(lines) or hint
