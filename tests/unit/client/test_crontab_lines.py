"""The reader of crontabs agrees with Debian's cron and with cronie.

crontabs.json has what the programs themselves read: the parsers of Debian's cron 3.0pl1-162 and of cronie
were compiled and run on each line. `times` are the minutes, hours, days of month, months and days of week of
a line, and `days` says how its day fields combine. `refused` is what the reader says of a line that cron
takes and a job cannot say.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand.schedules.notations.cron import MACROS, parse_cron
from sweephand_client.tasks.crontab.lines import Line, path_in, read_lines, split_stdin
from sweephand_client.tasks.crontab.time_fields import CronLineError, read_schedule

CRONTABS: Final = json.loads((Path(__file__).parent / "crontabs.json").read_text(encoding="utf-8"))

_RANGES: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def times_of(schedule: str) -> dict[str, str]:
    """When the API fires a schedule, as crontabs.json says it."""
    if schedule == "@reboot":
        return {"times": schedule}
    fields = parse_cron(MACROS.get(schedule, schedule)).fields
    assert fields
    assert fields.second.values == (0,)
    days = (fields.day_of_month, fields.day_of_week)
    named = [field.values for field in (fields.minute, fields.hour, days[0], fields.month, days[1])]
    texts = [
        "*" if len(values) == high - low + 1 else ",".join(map(str, values))
        for values, (low, high) in zip(named, _RANGES, strict=True)
    ]
    found = {"times": " ".join(texts)}
    if "*" not in (texts[2], texts[4]):
        found["days"] = "both" if any(field.begins_with_star for field in days) else "either"
    return found


def what_is_read(line: Line, refused: str | None) -> dict[str, Any]:
    """A line as crontabs.json says it."""
    if line.kind == "variable":
        return {"line": line.number, "variable": line.name, "value": line.text}
    if line.kind == "wrong":
        return (
            {"line": line.number, "refused": line.text} if refused else {"line": line.number, "error": True}
        )
    found = {"line": line.number, "command": line.text, **times_of(line.name)}
    return found | {
        name: value for name, value in (("stdin", line.stdin), ("user", line.user)) if value is not None
    }


@pytest.mark.parametrize("crontab", [pytest.param(each, id=each["title"]) for each in CRONTABS])
def test_a_line_says_what_its_cron_reads(crontab: dict[str, Any]) -> None:
    lines = read_lines("\n".join(crontab["text"]), crontab["cron"], has_users=crontab["system"])
    refusals = {each["line"]: each.get("refused") for each in crontab["lines"]}
    found = [
        what_is_read(line, refusals.get(line.number))
        for line in lines
        if line.kind in ("job", "variable", "wrong") and not line.is_commented_out
    ]
    expected = [
        {"line": each["line"], "refused": each["refused"]} if "refused" in each else each
        for each in crontab["lines"]
    ]
    assert found == expected


def test_the_crontabs_are_of_every_form() -> None:
    forms = [(each["cron"], each["system"]) for each in CRONTABS]
    assert len(CRONTABS) >= 60
    assert len(set(forms)) == 4
    assert min(forms.count(form) for form in forms) >= 4


_NUMBER: Final = st.integers(0, 62).map(str) | st.sampled_from(["07", "jan", "SUN", "fri", "x", ""])
_TERM: Final = st.one_of(
    st.just("*"),
    _NUMBER,
    st.tuples(_NUMBER, _NUMBER).map("-".join),
    st.sampled_from(["?", "L", "5#2", "0~9"]),
)
_FIELD: Final = st.lists(
    st.tuples(_TERM, st.sampled_from(["", "", "/2", "/0", "/70", "/"])).map("".join), min_size=1, max_size=3
).map(",".join)


@given(st.tuples(*[_FIELD | st.just("*")] * 5), st.sampled_from(["debian", "cronie"]))
def test_what_is_taken_is_taken_by_the_api(fields: tuple[str, ...], dialect: Any) -> None:
    try:
        schedule = read_schedule(fields, dialect)
    except CronLineError:
        return
    assert parse_cron(schedule)


@given(st.text(st.characters(exclude_characters="\\", exclude_categories=["Cs"])))
def test_input_is_split_at_the_first_percent_sign(text: str) -> None:
    command, stdin = split_stdin(text, "debian")
    head, _, tail = text.partition("%")
    tail = tail.replace("%", "\n")
    assert (command, stdin) == (head, (tail if tail.endswith("\n") else f"{tail}\n") if tail else None)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("/usr/bin/backup.sh --all", "/usr/bin/backup.sh"),
        ("[ -x /opt/p ] && /opt/q", "/opt/p"),
        ("cd / && run-parts --report /etc/cron.hourly", "/etc/cron.hourly"),
        ("A=/x/y ./b", "./b"),
        ("dump db > /backup/db.sql 2>&1", None),
        ("curl https://example.com/x", None),
        ("sync --config=/etc/x", None),
        ("(cd '/srv/web'; ./run)", "/srv/web"),
    ],
)
def test_a_path_is_neither_assigned_nor_written_to(command: str, path: str | None) -> None:
    assert path_in(command) == path
