"""`crontab --commands` writes the commands of a crontab to a file of their own, for the worker."""

from pathlib import Path

from tests.unit.client.conftest import CommandLine
from tests.unit.client.test_crontab import URL, notes, translated

from sweephand_client.tasks.jobs_file import read_jobs_file
from sweephand_client.worker.commands_file import Command, load_commands_file


def test_the_commands_of_a_crontab_go_to_a_file_of_their_own(sweephand: CommandLine) -> None:
    text = "TOKEN=hunter2\n# At night\n@daily /opt/a.sh x %one%two\nSHELL=/bin/bash\n#@hourly /opt/b\n"
    path = sweephand.file("crontab", text)
    commands = str(sweephand.home / "commands.yaml")

    words = ("crontab", path, "-z", "UTC", "--commands", commands, "--strict", "-n", "web1")
    made = sweephand.ok(*words, "--queue", "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-x")

    assert "hunter2" not in made.out + made.err
    jobs = read_jobs_file(made.out)
    assert jobs.jobs[0].definition == {
        "description": "At night",
        "schedule": "@daily",
        "timezone": "UTC",
        "target": {
            "type": "sqs",
            "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-x",
        },
        "completion": "async",
        "heartbeatTimeout": "10m",
    }
    assert Path(commands).stat().st_mode & 0o777 == 0o600
    file = load_commands_file(commands)
    assert file.namespace == jobs.namespace == "web1"
    environment = {"PATH": "/usr/bin:/bin", "TOKEN": "hunter2"}
    assert file.commands == {
        "a": Command(("/bin/sh", "-c", "/opt/a.sh x "), environment, stdin=b"one\ntwo\n"),
        "b": Command(("/bin/bash", "-c", "/opt/b"), environment | {"SHELL": "/bin/bash"}),
    }
    ran = sweephand.run(*words)
    assert (ran.code, "exists. It may have been edited" in ran.err) == (2, True)


def test_a_command_in_the_background_is_told_where_a_worker_runs_it() -> None:
    line = "@daily /opt/a.sh > /dev/null & "
    assert notes(line) == []
    ((_, text, is_lost),) = notes(line, for_worker=True)
    assert (is_lost, "leave out the &" in text) == (True, True)
    assert notes("@daily true && /opt/a.sh", for_worker=True) == []


def test_the_user_of_a_system_crontab_runs_the_command() -> None:
    found = translated("@daily app /opt/b\n", has_users=True, for_worker=True)
    assert found.commands["b"]["user"] == "app"


def test_only_one_target_is_given(sweephand: CommandLine) -> None:
    ran = sweephand.run("crontab", "-", "--url", URL, "--queue", URL, given="@reboot a\n")
    assert (ran.code, "Give only one of --url, --queue and --target." in ran.err) == (2, True)


def test_a_time_zone_that_does_not_exist_leaves_out_no_line(sweephand: CommandLine) -> None:
    ran = sweephand.run("crontab", "-", "--url", URL, "-z", "Europe/Pariss", given="@daily a\n")
    assert (ran.code, ran.out) == (2, "")
    assert "There is no time zone 'Europe/Pariss'." in ran.err
