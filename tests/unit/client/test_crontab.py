"""A crontab becomes the jobs of docs/crontab.md, and what a job cannot say is told line by line."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.client.conftest import CommandLine
from tests.unit.docs.blocks import blocks
from tests.unit.docs.test_examples import CRONTAB, requests

from sweephand_client.tasks.crontab.shell import split_input
from sweephand_client.tasks.crontab.translation import LIKE_CRON, Translated, translate
from sweephand_client.tasks.jobs_file import read_jobs_file, write_jobs_file

URL: Final = "https://web1.example.com/run"


def translated(text: str, **options: Any) -> Translated:
    return translate(text, timezone="UTC", **options)


def jobs(text: str, **options: Any) -> dict[str, Any]:
    """The definitions of the jobs of a crontab, by name, without the time zone."""
    return {
        each.name: {name: value for name, value in each.definition.items() if name != "timezone"}
        for each in translated(text, **options).file.jobs
    }


def job(line: str, **options: Any) -> Any:
    """The definition of the first job of a line."""
    return next(iter(jobs(line, **options).values()))


def notes(text: str, **options: Any) -> list[tuple[int, str, bool]]:
    return [(each.line, each.text, each.is_lost) for each in translated(text, **options).notes]


def test_the_crontab_of_the_page_becomes_the_jobs_of_the_page() -> None:
    text = next(blocks(CRONTAB, "crontab")).text
    body = json.loads(next(each.body for each in requests(CRONTAB) if each.url.endswith("/jobs")) or "")

    found = translate(text, target={"type": "http", "url": URL})

    assert [{"name": each.name, **each.definition} for each in found.file.jobs] == body["jobs"]
    assert {each.name: each.paused for each in found.file.jobs if each.paused} == {
        "report": "Commented out in the crontab."
    }


def test_the_input_of_the_page_becomes_the_data_of_the_page() -> None:
    line = next(each.text for each in blocks(CRONTAB, "crontab") if "announce" in each.text)
    documents = [json.loads(block.text) for block in blocks(CRONTAB, "json")]

    assert job(line, target={"type": "http", "url": URL}) in documents


def test_the_api_accepts_the_jobs_of_a_crontab(sweephand: CommandLine) -> None:
    path = sweephand.file("crontab", next(blocks(CRONTAB, "crontab")).text)

    made = sweephand.ok("crontab", path, "--url", URL)
    applied = sweephand.ok("apply", "-f", "-", given=made.out)

    assert applied.out.endswith("6 created, 0 unchanged\n")
    assert sweephand.ok("job", "get", "report", "--json").json["state"] == "paused"
    assert sweephand.ok("apply", "-f", "-", given=made.out).out == "6 unchanged\n"
    assert "line 1: MAILTO" in made.err
    assert "# line 1: MAILTO" in made.out


@pytest.mark.parametrize(
    ("line", "schedule"),
    [
        ("*/5 8-18 * * mon-fri  /bin/a", "*/5 8-18 * * mon-fri"),
        ("\t0\t4 1,15 *  MON\t/bin/a", "0 4 1,15 * MON"),
        ("@daily /bin/a", "@daily"),
        ("@Hourly /bin/a", "@Hourly"),
    ],
)
def test_the_time_is_kept_as_it_is(line: str, schedule: str) -> None:
    assert job(line) == {"schedule": schedule}


def test_a_line_of_the_system_names_a_user() -> None:
    assert jobs("30 2 * * * root /usr/bin/backup.sh --all", has_users=True) == {
        "backup": {"schedule": "30 2 * * *", "data": {"arguments": ["--all"]}}
    }


def test_arguments_and_input_become_data() -> None:
    assert job("@daily a.sh") == {"schedule": "@daily"}
    assert job("@daily a.sh 'x y' -z")["data"] == {"arguments": ["x y", "-z"]}
    assert job(r"@daily a.sh %one%two \%")["data"] == "one\ntwo %"
    assert job("@daily a.sh x %one")["data"] == {"arguments": ["x"], "input": "one"}


@given(st.text(st.characters(exclude_characters="\\", exclude_categories=["Cs", "Z", "Cc"])))
def test_input_is_split_at_the_first_percent_sign(text: str) -> None:
    command, given_text = split_input(text)
    head, separator, tail = text.partition("%")
    assert (command, given_text) == (head, tail.replace("%", "\n") if separator else None)


@pytest.mark.parametrize(
    ("command", "when"), [("a && b", None), ("a || b", "failed"), ("a; b", "always"), ("a ;b", "always")]
)
def test_several_commands_become_a_chain(command: str, when: str | None) -> None:
    found = jobs(f"@daily {command}")
    chained = {"type": "job", "name": "b"} | ({} if when is None else {"when": when})
    assert found == {"a": {"schedule": "@daily", "onComplete": chained}, "b": {}}


@pytest.mark.parametrize(
    ("command", "overlap"),
    [
        ("flock -n /run/lock poll.sh x", "skip"),
        ("/usr/bin/flock --nonblock l poll.sh x", "skip"),
        ("flock /run/lock poll.sh x", "wait"),
    ],
)
def test_a_lock_becomes_an_overlap(command: str, overlap: str) -> None:
    assert jobs(f"@daily {command}") == {
        "poll": {"schedule": "@daily", "data": {"arguments": ["x"]}, "overlap": overlap}
    }


@pytest.mark.parametrize("command", ["flock -w 10 /run/lock a.sh", "flock /run/lock -c 'a.sh'"])
def test_a_lock_that_no_overlap_can_say_is_told(command: str) -> None:
    assert [(text.partition(":")[0], lost) for _, text, lost in notes(f"@daily {command}")] == [
        ("flock", True)
    ]


@pytest.mark.parametrize(
    "command",
    [
        "a | b",
        "a > /dev/null",
        "a $HOME",
        "(a; b)",
        "a `b`",
        "a &",
        "cd /x && a *.log",
        "cd / && run-parts --report /etc/cron.hourly",
        ". /etc/profile; a",
        "a && export B=1 && c",
        "if a; then b; fi",
        "A=1 b --c",
        "a --to ~/dump",
    ],
)
def test_what_only_a_shell_understands_stays_whole_and_is_told(command: str) -> None:
    (name,) = jobs(f"@daily {command}")
    assert "|" not in name
    ((line, text, lost),) = notes(f"@daily {command}")
    assert (line, lost) == (1, False)
    assert "needs a shell" in text


@pytest.mark.parametrize("command", ["PASSWORD=hunter2 /opt/sync.sh --all", "A=1 PASSWORD=hunter2 sync > x"])
def test_a_job_is_not_named_by_what_a_command_assigns(command: str) -> None:
    (name,) = jobs(f"@daily {command}")
    assert name == "sync"


def test_variables_hold_for_the_lines_below_them() -> None:
    found = translate(
        "CRON_TZ=Europe/Paris\n@daily a\nCRON_TZ = 'Asia/Tokyo'\nRANDOM_DELAY=30\n@daily b\n"
    ).file.jobs
    assert [each.definition for each in found] == [
        {"schedule": "@daily", "timezone": "Europe/Paris"},
        {"schedule": "@daily", "timezone": "Asia/Tokyo", "jitter": "30m"},
    ]


def test_variables_that_no_job_has_are_told() -> None:
    assert notes('PATH=/bin\nMAILTO=""\nMAILTO=ops\nTOKEN=x=y\n') == [
        (1, "PATH: set it in the environment of the consumer", False),
        (2, "MAILTO: give the jobs an onComplete to learn of failures (docs/crontab.md)", False),
        (3, "MAILTO: give the jobs an onComplete to learn of failures (docs/crontab.md)", True),
        (4, "TOKEN: give it to the commands in the environment of the consumer, or in data", True),
    ]


def test_a_value_of_a_variable_is_not_printed() -> None:
    assert "hunter2" not in repr(translated("PASSWORD=hunter2\n"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0~30 3 * * * a", "random ~"),
        ("30 2 * * *", "expected 5 time fields and then a command"),
        ("@often a", "@often is unknown"),
        ("30 2 * * (x a", "no time field"),
        ("@daily 'a", "cannot be read"),
        ("@daily %input", "no command"),
    ],
)
def test_a_line_that_gives_no_job_is_told(line: str, said: str) -> None:
    assert jobs(f"# first\n{line}") == {}
    ((number, text, lost),) = notes(f"# first\n{line}")
    assert (number, lost) == (2, True)
    assert said in text


def test_comments_describe_the_line_below_and_commented_lines_are_paused() -> None:
    text = "# At night,\n# in Paris\n@daily a\n\n# alone\n\n@daily b\n#30 2 * * * c\n# five words of a note\n"
    found = translated(text)
    assert [(each.name, each.definition.get("description"), each.paused) for each in found.file.jobs] == [
        ("a", "At night, in Paris", None),
        ("b", None, None),
        ("c", None, "Commented out in the crontab."),
    ]


def test_a_job_at_the_start_of_the_machine_fires_on_demand() -> None:
    assert job("@reboot warm.sh") == {}
    assert "on demand" in notes("@reboot warm.sh")[0][1]


def test_names_are_names_and_occur_once() -> None:
    assert list(jobs("@daily /x/a b.sh\n@daily /y/a.py\n@daily ./c_d+e.sh\n@daily '/x/\u00e4 b'\n")) == [
        "a",
        "a-2",
        "c_d+e",
        "b",
    ]


def test_like_cron_tries_once_and_catches_nothing_up() -> None:
    assert job("@daily a", like_cron=True) == {"schedule": "@daily", **LIKE_CRON}


def test_a_zone_must_be_named(sweephand: CommandLine) -> None:
    path = sweephand.file("crontab", "@daily a\n")
    ran = sweephand.run("crontab", path, "--url", URL)
    assert (ran.code, ran.out) == (2, "")
    assert "--timezone" in ran.err
    assert "timezone: Europe/Riga" in sweephand.ok("crontab", path, "-z", "Europe/Riga").out
    assert sweephand.ok("crontab", "-", given="@reboot a\n").out


def test_strict_exits_with_1_if_anything_is_lost(sweephand: CommandLine) -> None:
    text = "@daily a\nTOKEN=x\n"
    assert sweephand.run("crontab", "-", "-z", "UTC", "--strict", given=text).code == 1
    assert sweephand.run("crontab", "-", "-z", "UTC", given=text).code == 0
    assert sweephand.run("crontab", "-", "-z", "UTC", "--strict", given="@daily a\n").code == 0
    found = sweephand.ok("crontab", "-", "-z", "UTC", "--json", given=text).json
    assert found["jobs"] == [{"name": "a", "schedule": "@daily", "timezone": "UTC"}]
    assert found["notes"] == [{"line": 2, "text": notes(text)[0][1], "isLost": True}]


@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.text("*@%#&;|~' \n\t0159dailyreboot=\\\"$\x00\x85")
    | st.lists(
        st.sampled_from(["@daily", "* * * * *", "a", "'", '"\x00', "=", "&&", "%", "\n", "# ", "flock -n l"])
    ).map(" ".join)
)
def test_any_text_gives_a_file_that_apply_reads(text: str) -> None:
    found = translated(text)
    assert read_jobs_file(write_jobs_file(found.file, found.notes_by_job())) == found.file


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_a_line_ends_only_at_a_line_feed(character: str) -> None:
    text = f"# a{character}b\n0 6 * * * /bin/report.sh 'x{character}y z'\n"

    found = translated(text)

    (declared,) = found.file.jobs
    assert declared.definition["data"] == {"arguments": [f"x{character}y z"]}
    assert declared.definition["description"] == f"a{character}b"
    assert read_jobs_file(write_jobs_file(found.file, {})).jobs == found.file.jobs
