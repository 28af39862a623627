"""The prices on other pages than docs/cost.md: sentences whose figures come from the same bill.

`make bill` writes the figures into these sentences. A test fails if a figure is not up to date, or if a page
has a price that no sentence here makes and that _PRICES_OF_OTHERS does not name.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from infra.bench import prices
from infra.bill import batches, page, stats, tables
from infra.bill.lines import MILLION, MONTH_S, total
from infra.bill.triggers import Bill, Case
from infra.capacity.quotas import PROVISIONED_HOUR

_FIGURE: Final = r"\{(\w+)\}"
_VALUE: Final = r"([0-9]+(?:[.,][0-9]+)*|at no rate|from [0-9]+ triggers a second on)"

MONTH_HOURS: Final = MONTH_S // 3_600

_ROOT: Final = Path(__file__).parents[2]

#: Units of DynamoDB for an item of so many KB: a write for each KB, a read for each four, with its keys.
_ITEMS_KB: Final = {"3": (4, 1), "20": (21, 6), "256": (257, 65)}

#: For each page the parts of sentences that name prices of Sweephand or of AWS.
QUOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "README.md": (
        "A stack that does nothing costs ${idle_dollars_with_alarms} a month with its alarms",
        ", and ${idle_dollars} without them",
        "from {cheaper_from} triggers a second on, if they are spread at random",
    ),
    "docs/comparison.md": (
        "${idle_dollars} a month idle, ${idle_dollars_with_alarms} with alarms",
        "${scheduler} a million, 14 million a month free",
        "${eventbridge} with an event bus and an API destination",
        "less than {cheaper_from} triggers a second",
    ),
    "docs/capacity.md": ("A provisioned poller costs ${poller_hour} an hour",),
    "docs/faq.md": (
        "${idle_dollars_with_alarms} a month with its alarms, and ${idle_dollars} without them",
        "dearer than EventBridge below {cheaper_from} triggers a second",
        "${scheduler} a million",
        "{cheaper_than_scheduler_from_without_history} if you keep no history",
    ),
    "docs/flow.md": (
        "under a policy costs ${batch_least} to ${batch_most} a million",
        "two more queues that Lambda polls, ${lane_dollars} a month",
        "charges ${message_groups} more for a million requests with a message group",
        "a million triggers cost up to ${writes} more",
        "the alarm costs ${valve_alarm_dollars} a month",
    ),
    "docs/guide.md": (
        "250 read units, which is ${read_thousand_jobs}",
        "250 read units or ${read_thousand_jobs} a thousand",
    ),
    "docs/operations.md": (
        "`all` adds eight [metrics](#metrics), for ${metric} a month each",
        "on` adds failures and lateness of each namespace, for ${two_metrics} a month",
        "${stats_dollars} for a million triggers at 20 a second",
        "The alarms cost ${alarm_dollars} a month, ${valve_alarm_dollars} more with `MaxTriggersPerMinute`",
        "${lane_alarm_dollars} more with `PriorityLanes`, and ${flow_alarm_dollars} more with `FlowPolicies`",
        "Lambda then polls one more queue, for ${queue_dollars} a month",
        "queue and functions of its own for each `priority` of jobs, for ${lane_dollars} a month",
        "start from a snapshot, for ${snapshot_dollars} a month",
        *(
            f"| a million writes of {size} KB | ${{object_writes}} | ${{writes_{size}}} |"
            for size in _ITEMS_KB
        ),
        *(f"| a million reads of {size} KB | ${{object_reads}} | ${{reads_{size}}} |" for size in _ITEMS_KB),
        "CloudWatch bills a metric at ${metric} a month",
        "and the sum is their number | ${metric} while triggers are delivered",
        "counts from that request | ${metric} while triggers are delivered",
        "the metrics of a stack that delivers all day cost ${two_metrics} a month",
        "the metric for that costs ${metric_hour}",
        "adds these, each for ${metric} a month while it has values, ${eight_metrics} in all",
        "Each namespace that delivers all day costs ${two_metrics} a month",
        "an hour of the stack's fixed costs, ${idle_dollars} a month",
        "and with flow and lanes ${flow_and_lanes_dollars} more",
        "A stack that you keep costs ${idle_dollars} a month",
        "With `--set SnapStart=PublishedVersions` it costs ${snapshot_dollars_a_day} a day more",
    ),
    "template.yaml": (
        "metrics that the alarms read, for ${two_metrics} a month in a stack that delivers all day",
        "for ${metric} a month each while they have values",
        "of each namespace, too, for ${two_metrics} a month for each namespace",
        "writes a unit more to DynamoDB, ${writes} a million calls",
        "The alarms cost ${alarm_dollars} a month in all",
        "on costs ${queue_dollars} a month more",
        "The two queues cost ${lane_dollars} a",
        "which costs about ${snapshot_dollars} a month",
        "Each serves 10 functions and costs ${poller_dollars} a month",
    ),
    "infra/smoke/__main__.py": ("${idle_dollars} a month",),
}

#: Prices that no part of the bill has: of other services, or of a run of smoke-aws in all.
_PRICES_OF_OTHERS: Final = (
    r"QStash asks \$1 for 100,000 attempts, so a million cost \$10",
    r"ten seconds for \$0\.00008",
    r"those that wait about \$0\.60",
    r"\$13 a million with `maxConcurrent` 1, \$31 with 200, and \$106 with 1,000",
    r"NAT gateway.*|\| interface endpoint.*",
    r"an hour of a KMS key, \$1 a month|the key that the command made \$1",
    r"The key costs \$1 a month.*\$0\.03|costs \$1 a month, and its requests",
    r"a GB for a month \| \$0\.023 \| \$0\.25",
    r"bills \$3\.00 a month for each other one",
    r"Each question\s+costs \$0\.01",
    r"costs about \$0\.03 at the prices|for about \$\$?0\.03",
    r"at about \$3 a million with Lambda's time",
)


def figures(bill: Bill) -> dict[str, str]:
    """What stands in the braces of QUOTES."""
    events = [total(batches.lines(each)) for each in bill.measured.batches if each.limit is not None]
    return page.figures(bill) | {
        "metric": tables.dollars(prices.METRICS.dollars),
        "two_metrics": tables.dollars(prices.METRICS.of(2)),
        "eight_metrics": tables.dollars(prices.METRICS.of(8)),
        "metric_hour": f"{prices.METRICS.dollars / MONTH_HOURS:.4f}",
        "poller_hour": f"{PROVISIONED_HOUR}",
        "poller_dollars": tables.dollars(PROVISIONED_HOUR * MONTH_HOURS),
        "writes": _cents(prices.WRITES.of(MILLION)),
        "message_groups": tables.dollars(prices.MESSAGE_GROUPS.of(MILLION)),
        "object_writes": tables.dollars(prices.OBJECT_WRITES.of(MILLION)),
        "object_reads": tables.dollars(prices.OBJECT_READS.of(MILLION)),
        "read_thousand_jobs": f"{prices.READS.of(250):.5f}",
        "stats_dollars": tables.dollars(total(stats.lines(bill, Case(rate=20.0)))),
        "batch_least": tables.dollars(min(events)),
        "batch_most": tables.dollars(max(events)),
        **{f"writes_{kb}": _cents(prices.WRITES.of(MILLION * each)) for kb, (each, _) in _ITEMS_KB.items()},
        **{f"reads_{kb}": _cents(prices.READS.of(MILLION * each)) for kb, (_, each) in _ITEMS_KB.items()},
    }


def _cents(value: float) -> str:
    """Dollars, with half a cent rounded up."""
    return f"{int(value * 100 + 0.5) / 100:.2f}"


def outdated(bill: Bill) -> Iterator[tuple[Path, str, str]]:
    """Each page that is not up to date: its path, and its text as it is and as it should be.

    Raises ValueError for a sentence that its page does not have.
    """
    known = figures(bill)
    for name, sentences in QUOTES.items():
        path = _ROOT / name
        text = wanted = path.read_text(encoding="utf-8")
        for sentence in sentences:
            wanted, count = re.subn(_pattern(sentence), _filler(sentence, known), wanted)
            if not count:
                raise ValueError(f"{name} has no sentence like: {sentence}")
        if wanted != text:
            yield path, text, wanted


def unknown_prices(name: str, text: str) -> list[str]:
    """The prices of a page that neither a sentence of QUOTES nor one of _PRICES_OF_OTHERS names."""
    for pattern in (*map(_pattern, QUOTES.get(name, ())), *_PRICES_OF_OTHERS):
        text = re.sub(pattern, "", text)
    return re.findall(r".{0,40}\$[0-9][0-9.,]*", text)


def _pattern(sentence: str) -> str:
    """What a sentence may look like before it is up to date: with other figures, and with line breaks."""
    literals = re.split(_FIGURE, sentence)[::2]
    return _VALUE.join(re.escape(each).replace(r"\ ", r"\s+") for each in literals)


def _filler(sentence: str, known: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    """What replaces the figures of a match, and nothing else of it."""
    names = re.findall(_FIGURE, sentence)

    def filled(match: re.Match[str]) -> str:
        text, at = match[0], match.start()
        for number in range(len(names), 0, -1):
            text = (
                text[: match.start(number) - at] + known[names[number - 1]] + text[match.end(number) - at :]
            )
        return text

    return filled
