"""The file of commands says what runs for which job, and each wrong place is told with its line."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand_client.http.errors import InputError
from sweephand_client.tasks.crontab.translation import translate
from sweephand_client.worker.commands_file import (
    Command,
    load_commands_file,
    read_commands_file,
    seconds,
    write_commands_file,
)
from sweephand_client.worker.surroundings import account_of, check_users, directory_of, environment_of

FILE = """
namespace: web1
defaults:
  environment: {LANG: C.UTF-8, PATH: /opt/bin}
  timeout: 1h
commands:
  poll: {command: poll.sh --quick}
  backup:
    command: [/usr/local/bin/backup.sh, $HOME]
    environment: {PATH: /usr/bin, AWS_REGION: }
    directory: /var/backups
    user: root
    timeout: 1d2h3m4s
    overlap: skip
    stdin: data
  report-*: {command: report.sh, stdin: {text: "now\\n"}}
  report-weekly-*: {command: weekly.sh}
"""


def read(text: str) -> dict[str, Any]:
    return dict(read_commands_file(text, "commands.yaml").commands)


def test_a_command_has_its_own_fields_and_those_of_all() -> None:
    commands = read(FILE)
    assert commands["poll"] == Command(
        ("/bin/sh", "-c", "poll.sh --quick"),
        environment={"LANG": "C.UTF-8", "PATH": "/opt/bin"},
        timeout_s=3_600,
    )
    assert commands["backup"] == Command(
        ("/usr/local/bin/backup.sh", "$HOME"),
        environment={"LANG": "C.UTF-8", "PATH": "/usr/bin", "AWS_REGION": None},
        directory="/var/backups",
        user="root",
        timeout_s=93_784,
        overlap="skip",
        stdin="data",
    )
    assert commands["report-*"].stdin == b"now\n"


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ("poll", "poll.sh --quick"),
        ("report-daily", "report.sh"),
        ("report-weekly-de", "weekly.sh"),
        ("report", None),
        ("report-*", None),
        ("report-$(id)", None),
        ("polls", None),
    ],
)
def test_a_job_has_the_command_of_its_name_or_of_its_longest_beginning(job: str, words: str | None) -> None:
    found = read_commands_file(FILE, "commands.yaml").command_of(job)
    assert (found and found.words[-1]) == words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jobs: []", "has no object `commands`"),
        ("commands: []", "has no object `commands`"),
        ("commands: {a: {command: x}}\nextra: 1", "line 2, /extra: there is no such field; give namespace"),
        ("namespace: 1\ncommands: {}", "line 1, /namespace: give the name of the namespace"),
        ("defaults: {command: x}\ncommands: {}", "/defaults/command: give each job a command of its own"),
        ("commands:\n  a: x", "line 2, /commands/a: give an object with command, environment"),
        (
            "commands:\n  a: {}",
            "line 2, /commands/a: there is no command; give a text",
        ),
        ("commands:\n  a b: {command: x}", "give the name of a job, or how names begin with a star"),
        (
            "commands:\n  a:\n    command: x\n    shell: y",
            "line 4, /commands/a/shell: there is no",
        ),
        ("commands: {a: {command: []}}", "/commands/a/command: give a text for /bin/sh, or a list"),
        ('commands: {a: {command: "x\\0y"}}', "/commands/a/command: give a text"),
        ("commands: {a: {command: x, environment: {A: 1}}}", "/environment: give an object of texts"),
        ("commands: {a: {command: x, environment: [A]}}", "/environment: give an object of texts"),
        ("commands: {a: {command: x, directory: here}}", "/directory: give an absolute path"),
        ("commands: {a: {command: x, user: 0}}", "/user: give the name of a user"),
        ("commands: {a: {command: x, timeout: 5}}", "/timeout: give a duration of a second or more, as in"),
        ("commands: {a: {command: x, timeout: 0s}}", "/timeout: give a duration of a second or more, as in"),
        ("commands: {a: {command: x, overlap: waitLatest}}", "/overlap: give allow, skip or wait"),
        ("commands: {a: {command: x, stdin: {text: 1}}}", "/stdin: give data, or a text as in"),
        ("commands: {a: {command: x}}}", "not YAML"),
    ],
)
def test_a_wrong_place_is_told_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read(text)
    assert said in str(error.value)


def test_a_file_that_others_may_change_or_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "commands.yaml"
    with pytest.raises(InputError, match="cannot be read"):
        load_commands_file(str(path))
    path.write_text(FILE, encoding="utf-8")
    path.chmod(0o664)
    with pytest.raises(InputError, match="Run: chmod go-w"):
        load_commands_file(str(path))
    path.chmod(0o644)
    assert load_commands_file(str(path)).namespace == "web1"
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="cannot be read"):
        load_commands_file(str(path))


def test_a_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "commands.yaml"
    path.write_text(FILE, encoding="utf-8")
    monkeypatch.setattr("os.fstat", lambda _: SimpleNamespace(st_uid=os.geteuid() + 1, st_mode=0o644))
    with pytest.raises(InputError, match="belongs to somebody else"):
        load_commands_file(str(path))


@pytest.mark.parametrize(
    ("text", "expected"), [("90s", 90), ("1h30m", 5_400), ("2d", 172_800), ("", 0), ("5", 0), ("5m 1s", 0)]
)
def test_a_duration_is_read(text: str, expected: int) -> None:
    assert seconds(text) == expected


@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.lists(
        st.sampled_from(["@daily", "* * * * *", "/a", "'", "%", "\n", "A=1\n", '""=x\n', "SHELL=/b\0\n"])
    ).map("".join),
    st.booleans(),
)
def test_any_crontab_gives_a_file_of_commands_that_can_be_read(text: str, has_users: bool) -> None:  # noqa: FBT001
    found = translate(text, timezone="UTC", has_users=has_users, for_worker=True)
    file = read_commands_file(write_commands_file(found.commands, None), "commands.yaml")
    assert [*file.commands] == [each.name for each in found.file.jobs]


def test_a_user_that_the_worker_cannot_be_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="a runs as no-such-user, and there is no such user"):
        check_users(read_commands_file("commands: {a: {command: x, user: no-such-user}}", "c.yaml"))
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    with pytest.raises(InputError, match="Run the worker as root, or as root, or leave `user` out"):
        check_users(read_commands_file("commands: {a: {command: x, user: root}}", "c.yaml"))
    check_users(read_commands_file("commands: {a: {command: x}}", "c.yaml"))


def test_root_changes_to_the_user_with_all_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    account = account_of(Command(("x",), user="daemon"))
    assert (account.uid, account.gid) == (1, 1)
    assert account.groups is not None
    assert 1 in account.groups
    assert account_of(Command(("x",), user="root")).uid is None


def test_a_command_has_nothing_of_the_worker_but_what_the_file_names() -> None:
    worker = {"PATH": "/w", "TZ": "UTC", "SWEEPHAND_KEY": "sh_x", "AWS_REGION": "eu-west-1", "X": "1"}
    command = Command(("x",), environment={"AWS_REGION": None, "HOME": "/nowhere", "NONE": None})
    found = environment_of(command, {"JOB": "a"}, worker)
    assert found.keys() == {
        *("PATH", "TZ", "HOME", "LOGNAME", "USER", "SHELL"),
        *("AWS_REGION", "SWEEPHAND_JOB"),
    }
    assert (found["PATH"], found["AWS_REGION"]) == ("/w", "eu-west-1")
    assert directory_of(command, found) == "/"
    assert directory_of(command, {"HOME": "/usr"}) == "/usr"
