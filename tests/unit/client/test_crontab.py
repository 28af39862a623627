"""A line of a crontab becomes one job, and what a job cannot say is told line by line (docs/crontab.md)."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.client.conftest import CommandLine
from tests.unit.client.jobs_schema import errors_of
from tests.unit.client.test_crontab_lines import CRONTABS
from tests.unit.docs.blocks import blocks
from tests.unit.docs.test_examples import CRONTAB, requests

from sweephand_client.tasks.crontab.translation import Translated, translate
from sweephand_client.tasks.exact_yaml import parsed
from sweephand_client.tasks.jobs_file import read_jobs_file, write_jobs_file
from sweephand_client.worker.commands_file import write_commands_file

URL: Final = "https://web1.example.com/run"


def translated(text: str, **options: Any) -> Translated:
    """The jobs of a crontab, whose file the schema of a file of jobs accepts."""
    found = translate(text, timezone="UTC", **options)
    assert errors_of(write_jobs_file(found.file, {})) == []
    return found


def jobs(text: str, **options: Any) -> dict[str, Any]:
    """The definitions of the jobs of a crontab, by name, without the time zone."""
    return {
        each.name: {name: value for name, value in each.definition.items() if name != "timezone"}
        for each in translated(f"{text}\n", **options).file.jobs
    }


def commands(text: str, **options: Any) -> dict[str, str]:
    """The command of each job, by the name of the job."""
    return {name: job["data"]["command"] for name, job in jobs(text, **options).items()}


def notes(text: str, **options: Any) -> list[tuple[int, str, bool]]:
    return [(each.line, each.text, each.is_lost) for each in translated(f"{text}\n", **options).notes]


def test_the_crontab_of_the_page_becomes_the_jobs_of_the_page() -> None:
    text = next(blocks(CRONTAB, "crontab")).text
    body = json.loads(next(each.body for each in requests(CRONTAB) if each.url.endswith("/jobs")) or "")

    found = translate(text, dialect="cronie", target={"type": "http", "url": URL}, for_worker=True)

    assert [{"name": each.name, **each.definition} for each in found.file.jobs] == body["jobs"]
    assert {each.name: each.paused for each in found.file.jobs if each.paused} == {
        "report": "Commented out in the crontab."
    }
    assert parsed(write_commands_file(found.commands, "web1")) == parsed(next(blocks(CRONTAB, "yaml")).text)


def test_the_lines_of_the_page_become_the_commands_of_the_page() -> None:
    lines = [each.text for each in list(blocks(CRONTAB, "crontab"))[1:]]
    files = [parsed(each.text) for each in list(blocks(CRONTAB, "yaml"))[1:]]
    assert lines

    for line, file in zip(lines, files, strict=True):
        found = translated(line, for_worker=True).commands
        environment = {"environment": {"PATH": "/usr/bin:/bin"}}
        assert found == {job: fields | environment for job, fields in file["commands"].items()}


@pytest.mark.parametrize("crontab", [pytest.param(each, id=each["title"]) for each in CRONTABS[::6]])
def test_the_api_accepts_the_jobs_of_a_crontab(crontab: dict[str, Any], sweephand: CommandLine) -> None:
    """A sixth of the crontabs, by the commands. test_crontab_lines.py reads every line."""
    system = ["--system"] if crontab["system"] else []
    made = sweephand.ok(
        *("crontab", "-", "--url", URL, "-z", "UTC", "--cron", crontab["cron"], "--like-cron", *system),
        given="\n".join(crontab["text"]),
    )
    assert "0 unchanged" in sweephand.ok("apply", "-f", "-", given=made.out).out
    assert " created" not in sweephand.ok("apply", "-f", "-", given=made.out).out


def test_a_commented_line_is_applied_as_a_paused_job(sweephand: CommandLine) -> None:
    path = sweephand.file("crontab", next(blocks(CRONTAB, "crontab")).text)

    made = sweephand.ok("crontab", path, "--cron", "cronie", "--url", URL)
    sweephand.ok("apply", "-f", "-", given=made.out)

    assert sweephand.ok("job", "get", "report", "--json").json["state"] == "paused"
    assert "line 1: MAILTO" in made.err
    assert "# line 1: MAILTO" in made.out


@pytest.mark.parametrize(
    "command",
    [
        "bill.sh --all && send-bills.sh --to ops",
        "probe || report && mail",
        "a && b; c",
        "a || b; c",
        "a && b || c",
        "find /rec -type f -exec chmod 664 {} \\;",
        "cut -d ';' -f 2 /x",
        "archive.sh 2024 15   # army week",
        "a x # don't",
        "flock -n /run/x.lock poll.sh",
        "[ -x /opt/p ] && /opt/p",
        "rm /tmp/sess_??",
        "echo 'unclosed",
        "A=1 b > /dev/null & ",
    ],
)
def test_a_line_is_one_job_that_carries_its_command_as_it_was_written(command: str) -> None:
    (job,) = jobs(f"*/15 3 8 12 * {command}").values()
    assert job == {"schedule": "*/15 3 8 12 *", "data": {"command": command}}
    assert notes(f"@daily {command}") == []


def test_data_says_what_cron_would_run() -> None:
    text = "PASSWORD=hunter2\nA=1\n@daily /opt/a.sh x %one%two \\%\nB=2\n@hourly app /opt/b\n"
    assert jobs(text.replace("app ", ""))["a"]["data"] == {
        "command": "/opt/a.sh x ",
        "stdin": "one\ntwo %\n",
        "env": ["PASSWORD", "A"],
    }
    user = "@hourly app /opt/b"
    assert jobs(user, has_users=True)["b"]["data"] == {"command": "/opt/b", "user": "app"}
    assert "hunter2" not in repr(translated(text))


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("@daily /srv/a/cron.sh\n@daily /srv/b/cron.sh", ["cron", "cron-2"]),
        ("@daily [ -x /opt/p ] && /opt/p", ["p"]),
        ("@daily php /var/www/app/artisan schedule:run", ["artisan"]),
        ("@daily cd / && run-parts /etc/cron.hourly", ["cron.hourly"]),
        ("@daily pg_dump app > /backup/x.sql", ["pg_dump"]),
        ("@daily PASSWORD=hunter2 sync --all", ["sync"]),
        ("@daily ./c_d+e.py\n@daily /x/\u00e4 b", ["c_d+e", "job"]),
        ("@daily curl https://example.com/x", ["curl"]),
        (f"@daily /x/{'n' * 200}", ["n" * 120]),
    ],
)
def test_a_job_has_the_name_of_the_first_path_in_its_command(lines: str, names: list[str]) -> None:
    assert list(jobs(lines)) == names


def test_a_zone_is_read_by_cronie_alone() -> None:
    text = "CRON_TZ=Asia/Tokyo\n@daily /a\nCRON_TZ=\n@daily /b\n"
    zones = [each.definition["timezone"] for each in translated(text, dialect="cronie").file.jobs]
    assert zones == ["Asia/Tokyo", "UTC"]
    zones = [each.definition["timezone"] for each in translated(text.replace("=\n", "=''\n")).file.jobs]
    assert zones == ["UTC", "UTC"]
    assert notes("CRON_TZ=Asia/Tokyo") == [
        (1, "CRON_TZ: Debian's cron only hands it to the commands", True),
    ]


@pytest.mark.parametrize("dialect", ["debian", "cronie"])
def test_tz_moves_no_schedule(dialect: Any) -> None:
    (job,) = translated("TZ=Asia/Tokyo\n0 5 * * * /a\n", dialect=dialect).file.jobs
    assert job.definition["timezone"] == "UTC"
    assert job.definition["data"]["env"] == ["TZ"]
    ((_, text, lost),) = notes("TZ=Asia/Tokyo", dialect=dialect)
    assert lost
    assert "moves no schedule" in text


def test_a_zone_that_does_not_exist_gives_no_job() -> None:
    assert jobs("CRON_TZ=Paris\n@daily /a\n@reboot /b", dialect="cronie").keys() == {"b"}
    assert (2, "no job: 'Paris' is no time zone, such as Europe/Paris", True) in notes(
        "CRON_TZ=Paris\n@daily /a", dialect="cronie"
    )


def test_a_random_delay_of_cronie_becomes_jitter() -> None:
    text = "RANDOM_DELAY=45\n@daily /a\nRANDOM_DELAY=0\n@daily /b"
    assert [job.get("jitter") for job in jobs(text, dialect="cronie").values()] == ["45m", None]
    assert [job.get("jitter") for job in jobs(text).values()] == [None, None]
    assert [lost for _, _, lost in notes("RANDOM_DELAY=soon\nRANDOM_DELAY=1441", dialect="cronie")] == [
        True,
        True,
    ]


def test_variables_that_no_job_has_are_told() -> None:
    of_mail = "MAILTO: give the jobs an onComplete to learn of failures (docs/crontab.md)"
    assert notes('PATH=/bin\nMAILTO=""\nMAILTO=ops\nTOKEN=x=y') == [
        (1, "PATH: set it in the environment of the consumer", False),
        (2, of_mail, False),
        (3, of_mail, True),
        (4, "TOKEN: set it in the environment of the consumer", True),
    ]
    assert jobs("PATH=/bin\nMAILTO=ops\n@daily /a")["a"]["data"]["env"] == ["PATH"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0~30 3 * * * a", "the random '0~30' in the minute field is no schedule"),
        ("0 30 2 * * x", "'30' is no hour: expected 0 to 23"),
        ("-*/15 * * * * x", "'-*/15' is no minute"),
        ("1/20 * * * * x", "cron takes a step after * or a range"),
        ("0 22-6 * * * x", "'22-6' in the hour field runs backwards"),
        ("0 0 30 2 * x", "never comes"),
        ("0 12 * * 5#2 x", "'5#2' is no day-of-week: expected 0 to 7 or sun to sat"),
        ("* * * * * * x", "it may be a sixth time field"),
        ("30 2 * * *", "expected 5 time fields and then a command"),
        ("@often a", "@often is unknown"),
        ("@Daily a", "@Daily is unknown"),
        ("@daily %input", "there is no command"),
    ],
)
def test_a_line_that_gives_no_job_is_told(line: str, said: str) -> None:
    assert jobs(f"# first\n{line}") == {}
    ((number, text, lost),) = notes(f"# first\n{line}")
    assert (number, lost) == (2, True)
    assert text.startswith("no job: ")
    assert said in text


def test_comments_describe_the_line_below_and_commented_lines_are_paused() -> None:
    text = (
        "# At night,\n# in Paris\n@daily /a\n\n# alone\n\n@daily /b\n#30 2 * * * /c\n# five words of a note"
    )
    found = translated(text)
    assert [(each.name, each.definition.get("description"), each.paused) for each in found.file.jobs] == [
        ("a", "At night, in Paris", None),
        ("b", None, None),
        ("c", None, "Commented out in the crontab."),
    ]


@pytest.mark.parametrize(
    "line", ["# TOKEN=s3cret", "#TOKEN = 's3cret' # of ops", "# export TOKEN=s3cret", '##"TOKEN"="s3cret x"']
)
@pytest.mark.parametrize("dialect", ["debian", "cronie"])
def test_a_variable_that_is_commented_out_describes_no_job(line: str, dialect: Any) -> None:
    (job,) = jobs(f"# At night\n{line}\n# in Paris\n@daily /a", dialect=dialect).values()
    assert job == {"description": "At night in Paris", "schedule": "@daily", "data": {"command": "/a"}}


@pytest.mark.parametrize(
    "line",
    [
        'TOKEN="s3cret" # this is for the jobs below',
        "TOKEN='s3cret'; and four or five words more",
        '"TOKEN"="s3cret" 0 0 * * * /a',
        "export TOKEN=s3cret and four words more",
    ],
)
@pytest.mark.parametrize("dialect", ["debian", "cronie"])
def test_no_note_quotes_the_value_of_a_variable_that_cron_does_not_read(line: str, dialect: Any) -> None:
    ((_, text, lost),) = notes(line, dialect=dialect)
    assert text.startswith("no job: cron does not read the line as the variable TOKEN: expected NAME=value")
    assert lost


def test_the_header_of_a_crontab_is_neither_job_nor_description() -> None:
    text = (
        "# at 5 a.m every week with:\n# 0 5 * * 1 tar -zcf /var/backups/home.tgz /home/\n"
        "# m h dom mon dow user command\n# *  *  *  *  * user-name command to be executed\n@daily /a"
    )
    assert jobs(text) == {"a": {"schedule": "@daily", "data": {"command": "/a"}}}
    assert [(line, lost) for line, _, lost in notes(text)] == [(4, False)]


def test_a_user_in_a_crontab_of_one_user_is_told() -> None:
    assert commands("0 3 * * * root /usr/bin/x") == {"x": "root /usr/bin/x"}
    ((_, text, lost),) = notes("0 3 * * * root /usr/bin/x")
    assert lost
    assert "--system" in text
    assert notes("0 3 * * * root /usr/bin/x", has_users=True) == []
    assert notes("0 3 * * * backup --all") == []


def test_a_job_at_the_start_of_the_machine_fires_on_demand() -> None:
    assert jobs("@reboot /opt/warm.sh", like_cron=True) == {
        "warm": {"data": {"command": "/opt/warm.sh"}, "retry": {"maxAttempts": 1}}
    }
    assert "on demand" in notes("@reboot /opt/warm.sh")[0][1]


def test_like_cron_tries_once_and_catches_nothing_up() -> None:
    assert jobs("@daily /a", like_cron=True)["a"] == {
        "schedule": "@daily",
        "data": {"command": "/a"},
        "retry": {"maxAttempts": 1},
        "catchup": {"mode": "none", "window": "2m"},
    }


def test_a_last_line_without_a_line_feed_is_told() -> None:
    found = translated("@daily /a\n@daily /b")
    assert [each.name for each in found.file.jobs] == ["a", "b"]
    assert [(each.line, each.is_lost) for each in found.notes] == [(2, False)]


def test_a_zone_must_be_named(sweephand: CommandLine) -> None:
    path = sweephand.file("crontab", "@daily a\n")
    ran = sweephand.run("crontab", path, "--url", URL)
    assert (ran.code, ran.out) == (2, "")
    assert "--timezone" in ran.err
    assert "timezone: Europe/Riga" in sweephand.ok("crontab", path, "-z", "Europe/Riga").out
    assert sweephand.ok("crontab", "-", given="@reboot a\n").out


@pytest.mark.parametrize("name", ["CRON_TZ", "RANDOM_DELAY"])
def test_the_cron_must_be_named_if_only_one_obeys_a_variable(name: str, sweephand: CommandLine) -> None:
    text = f"# x\n{name}=7\n@reboot a\n"
    ran = sweephand.run("crontab", "-", given=text)
    assert (ran.code, ran.out) == (2, "")
    assert f"Line 2 sets {name}" in ran.err
    assert sweephand.ok("crontab", "-", "--cron", "debian", given=text).out
    assert sweephand.ok("crontab", "-", "--cron", "cronie", given=text).out


def test_strict_exits_with_1_if_anything_is_lost(sweephand: CommandLine) -> None:
    text = "@daily a\nTOKEN=x\n"
    assert sweephand.run("crontab", "-", "-z", "UTC", "--strict", given=text).code == 1
    assert sweephand.run("crontab", "-", "-z", "UTC", given=text).code == 0
    assert sweephand.run("crontab", "-", "-z", "UTC", "--strict", given="@daily a\n").code == 0
    found = sweephand.ok("crontab", "-", "-z", "UTC", "--json", given=text).json
    assert found["jobs"] == [{"name": "a", "schedule": "@daily", "timezone": "UTC", "data": {"command": "a"}}]
    assert found["notes"] == [{"line": 2, "text": notes(text)[0][1], "isLost": True}]


@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.text("*@%#&;|~' \n\t0159dailyreboot=\\\"$\x00\x85")
    | st.lists(
        st.sampled_from(["@daily", "* * * * *", "/a", "'", '"\x00', "=", "&&", "%", "\n", "# ", "root "])
    ).map(" ".join),
    st.sampled_from([("debian", False), ("cronie", False), ("debian", True)]),
)
def test_any_text_gives_a_file_that_apply_reads(text: str, form: Any) -> None:
    dialect, has_users = form
    found = translated(text, dialect=dialect, has_users=has_users)
    assert read_jobs_file(write_jobs_file(found.file, found.notes_by_job())) == found.file


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_a_line_ends_only_at_a_line_feed(character: str) -> None:
    text = f"# a{character}b\n0 6 * * * /bin/report.sh 'x{character}y z'\n"

    found = translated(text)

    (declared,) = found.file.jobs
    assert declared.definition["data"] == {"command": f"/bin/report.sh 'x{character}y z'"}
    assert declared.definition["description"] == f"a{character}b"
    assert read_jobs_file(write_jobs_file(found.file, {})).jobs == found.file.jobs
