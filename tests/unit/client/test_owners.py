"""`apply` leaves alone what another file or a person wrote, unless it is told to take it over."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.unit.client.conftest import CommandLine

from sweephand_client.api.client import Client
from sweephand_client.openapi.requests import HttpTarget
from sweephand_client.tasks.apply import carry_out, plan
from sweephand_client.tasks.jobs_file import read_jobs_file
from sweephand_client.tasks.owners import marked, split_mark

TARGET = "{type: http, url: https://consumer.example/hook}"


def file(sweephand: CommandLine, name: str, *jobs: str, top: str = "") -> str:
    lines = "".join(f"\n  - {{name: {each}, target: {TARGET}}}" for each in jobs)
    return sweephand.file(name, f"{top}\njobs:{lines or ' []'}")


def job(sweephand: CommandLine, name: str) -> Any:
    return sweephand.ok("job", "get", name, "--json").json


def test_a_job_that_a_person_wrote_is_refused_with_its_line_and_the_others_are_written(
    sweephand: CommandLine,
) -> None:
    sweephand.ok("job", "schedule", "poll", "-s", "@daily", "--url", "https://x.example")
    path = file(sweephand, "jobs.yaml", "mail", "poll")
    before = job(sweephand, "poll")

    planned = sweephand.run("apply", "-f", path, "--dry-run", "--exit-code")
    assert [each["name"] for each in sweephand.ok("job", "list", "--json").json] == ["poll"]
    applied = sweephand.run("apply", "-f", path)

    said = (
        "poll refused: line 4, /jobs/1: No file owns the job. admin wrote it at 2026-11-21T12:00:00.000Z. "
        "Say --take-over if this file shall own it.\n"
    )
    assert planned.code == applied.code == 4
    assert planned.out.endswith(f"{said}1 to create, 1 refused, 0 unchanged\n")
    assert applied.out == f"{said}mail created\n1 created, 1 refused, 0 unchanged\n"
    assert job(sweephand, "poll") == before
    [result] = [
        each for each in sweephand.run("apply", "-f", path, "--json").json["results"] if "problem" in each
    ]
    assert (result["name"], result["did"], result["problem"]["status"]) == ("poll", "refused", 409)

    taken = sweephand.ok("apply", "-f", path, "--take-over")
    assert taken.out == "poll changed\n1 changed, 1 unchanged\n"
    assert sweephand.ok("apply", "-f", path, "--take-over").out == "2 unchanged\n"


def test_a_job_of_another_file_is_refused_by_the_name_or_the_marks_of_that_file(
    sweephand: CommandLine,
) -> None:
    for top, owner in (
        ("", "first.yaml"),
        ("labels: {by: x}\nprefix: po", "by=x,po*"),
        ("prefix: po", "po*"),
    ):
        sweephand.ok("apply", "--take-over", "-f", file(sweephand, "first.yaml", "poll", top=top))
        ran = sweephand.run("apply", "-f", file(sweephand, "other.yaml", "poll, description: mine"))
        assert ran.code == 4
        assert f": The file {owner} owns the job. admin wrote it at 2026-" in ran.out
        again = file(sweephand, "renamed.yaml" if top else "first.yaml", "poll, description: new", top=top)
        assert sweephand.ok("apply", "-f", again).out == "poll changed\n1 changed, 0 unchanged\n"


@pytest.mark.parametrize(
    "words",
    [
        ("job", "schedule", "poll", "--url", "https://consumer.example/hook", "--field", 'description="x"'),
        ("job", "schedule", "poll", "--url", "https://consumer.example/hook", "--label", "team=ops"),
    ],
)
def test_a_job_that_a_person_changed_since_is_refused_only_while_it_differs(
    sweephand: CommandLine, words: tuple[str, ...]
) -> None:
    path = file(sweephand, "jobs.yaml", "poll")
    sweephand.ok("apply", "-f", path)
    sweephand.ok(*words)
    assert sweephand.run("apply", "-f", path).code == 4
    sweephand.ok("job", "schedule", "poll", "--url", "https://consumer.example/hook")
    assert sweephand.ok("apply", "-f", path).out == "1 unchanged\n", "nothing is taken over"


def test_a_patch_is_refused_and_a_pause_is_none(sweephand: CommandLine, client: Client) -> None:
    path = file(sweephand, "jobs.yaml", "poll")
    sweephand.ok("apply", "-f", path)
    client.jobs.patch("ns", "poll", {"description": "by the console"})
    ran = sweephand.run("apply", "-f", path)
    assert "It is not as the file jobs.yaml wrote it. admin wrote it at " in ran.out
    sweephand.ok("job", "pause", "poll")
    client.jobs.patch("ns", "poll", {"description": None})
    assert sweephand.ok("apply", "-f", path).out == "1 unchanged\n"
    sweephand.ok("apply", "-f", file(sweephand, "jobs.yaml", "poll, description: x"))


def test_other_keys_and_a_pause_and_a_new_default_leave_the_file_its_jobs(sweephand: CommandLine) -> None:
    sweephand.ok("namespace", "set", '{"limits": {}, "defaultRetry": {"maxAttempts": 2}}')
    path = file(sweephand, "jobs.yaml", "poll, data: {price: 1.10, z: 1, a: 2}", "mail, labels: {}")
    sweephand.ok("apply", "-f", path)
    sweephand.ok("job", "pause", "poll", "--reason", "tonight")
    sweephand.ok("namespace", "set", '{"limits": {}, "defaultRetry": {"maxAttempts": 3}}')
    done = sweephand.ok("apply", "-f", path, SWEEPHAND_KEY="sh_writer")
    assert done.out == "mail changed\npoll changed\n2 changed, 0 unchanged\n"
    assert job(sweephand, "poll")["retry"] == {"maxAttempts": 3}


def test_a_file_from_before_becomes_the_owner_by_one_run(sweephand: CommandLine) -> None:
    url = ("--url", "https://consumer.example/hook")
    for name in ("mail", "poll"):
        sweephand.ok("job", "schedule", name, *url, "--label", "by=web1")
    path = file(sweephand, "jobs.yaml", "mail", "poll", top="labels: {by: web1}")
    assert sweephand.ok("apply", "-f", path).out == "2 unchanged\n", "what differs in nothing is not refused"
    shown = sweephand.ok("apply", "-f", path, "--take-over", "--dry-run").out
    assert shown == (
        '~ mail\n    + owner: "by=web1"\n~ poll\n    + owner: "by=web1"\n2 to change, 0 unchanged\n'
    )
    sweephand.ok("apply", "-f", path, "--take-over")
    fewer = file(sweephand, "jobs.yaml", "mail, description: x", top="labels: {by: web1}")
    assert sweephand.ok("apply", "-f", fewer, "--prune").out == (
        "mail changed\npoll deleted\n1 changed, 1 deleted, 0 unchanged\n"
    )


def test_taking_over_begins_no_job_anew_and_writes_over_nobody(
    sweephand: CommandLine, client: Client
) -> None:
    target: HttpTarget = {"type": "http", "url": "https://consumer.example/hook"}
    client.jobs.put("ns", "done", {"dueTime": "5s", "target": target})
    client.jobs.put("ns", "off", {"schedule": "@every 1h", "repeats": 3, "target": target})
    sweephand.server.api.world.clock.time += 7_000_000
    jobs = ("done, dueTime: 5s", "off, schedule: '@every 1h', repeats: 3, paused: tonight")
    path = file(sweephand, "jobs.yaml", *jobs)
    before = {name: client.jobs.occurrences("ns", name) for name in ("done", "off")}

    assert sweephand.ok("apply", "-f", path, "--take-over").out == (
        "done changed\noff changed\n2 changed, 0 unchanged\n"
    )
    assert {name: client.jobs.occurrences("ns", name) for name in ("done", "off")} == before
    assert [each["state"] for each in client.jobs.list("ns")] == ["completed", "paused"]
    assert sweephand.ok("apply", "-f", path, "--take-over").out == "2 unchanged\n"

    renamed = read_jobs_file(Path(path).read_text("utf-8"), "new.yaml")
    steps = plan(client, "ns", renamed, takes_over=True)
    client.jobs.patch("ns", "off", {"description": "by another writer"})
    assert [each.problem and each.problem.status for each in carry_out(client, "ns", steps)] == [None, 412]


def test_prune_deletes_no_job_that_a_person_wrote_or_changed(sweephand: CommandLine) -> None:
    top = "labels: {by: web1}"
    sweephand.ok("apply", "-f", file(sweephand, "jobs.yaml", "mail", "poll", top=top))
    url = ("--url", "https://x.example")
    sweephand.ok("job", "schedule", "own", *url, "--label", "by=web1")
    path = file(sweephand, "jobs.yaml", "mail", top=top)
    for words in (("--dry-run",), ()):
        ran = sweephand.run("apply", "-f", path, "--prune", *words)
        assert ran.code == 4
        assert "own refused: No file owns the job. admin wrote it at " in ran.out
        assert "poll refused: It was not deleted, because something else was refused." in ran.out
    assert len(sweephand.ok("job", "list", "--json").json) == 3
    done = sweephand.ok("apply", "-f", path, "--prune", "--take-over")
    assert done.out == "own deleted\npoll deleted\n2 deleted, 1 unchanged\n"


def test_a_pause_of_a_job_that_a_person_wrote_is_refused(sweephand: CommandLine) -> None:
    sweephand.ok("job", "schedule", "poll", "--url", "https://consumer.example/hook")
    path = file(sweephand, "jobs.yaml", "poll, paused: tonight")
    assert sweephand.run("apply", "-f", path).code == 4
    assert job(sweephand, "poll")["state"] == "active"
    sweephand.ok("apply", "-f", path, "--take-over")
    assert job(sweephand, "poll")["state"] == "paused"


def test_the_label_belongs_to_apply_and_fits(sweephand: CommandLine) -> None:
    long = "x" * 200 + ".yaml"
    sweephand.ok("apply", "-f", file(sweephand, long, "poll"))
    label = job(sweephand, "poll")["labels"]["sweephand-file"]
    assert re.fullmatch("x{111} [0-9a-f]{16}", label)
    assert sweephand.ok("apply", "-f", file(sweephand, long, "poll, description: x")).out.endswith(
        "1 changed, 0 unchanged\n"
    )
    ran = sweephand.run("apply", "-f", file(sweephand, "jobs.yaml", "a, labels: {sweephand-file: me}"))
    assert ran.code == 2
    assert "line 3, /jobs/0/labels/sweephand-file: apply writes this label; leave it out" in ran.err
    for labels in ("3", "[a]", "{a: 1}"):
        ran = sweephand.run("apply", "-f", file(sweephand, "jobs.yaml", f"a, labels: {labels}"))
        assert (ran.code, "/jobs/0/labels" in ran.out) == (2, True)


@pytest.mark.parametrize(
    ("written", "stored", "fits"),
    [
        ({"repeats": Decimal("5.0"), "dst": {"gap": "skip", "overlap": "first"}}, None, True),
        ({"repeats": 5}, {"repeats": Decimal("5.0")}, True),
        ({"retry": {"maxAttempts": Decimal("1e99999999999")}}, None, True),
        ({"retry": {"maxAttempts": 9**400}}, None, True),
        ({"deleteAfterCompletion": True}, {"deleteAfterCompletion": 1}, False),
        ({"data": {"a": 1, "b": 2}}, {"data": {"b": 2, "a": 1}}, False),
        ({"data": Decimal("1.10")}, {"data": Decimal("1.1")}, False),
        ({"labels": {"a": "b"}}, {"labels": {"a": "c"}}, False),
        ({"description": "\ud800"}, None, True),
    ],
)
def test_a_mark_fits_what_is_equal(written: Any, stored: Any, *, fits: bool) -> None:
    definition: Any = marked(written, written, "jobs.yaml")
    found = definition if stored is None else {**definition, **stored}
    found["labels"] = {**found.get("labels", {}), "sweephand-file": definition["labels"]["sweephand-file"]}
    unmarked, mark = split_mark(found)
    assert unmarked == {**written, **(stored or {})}
    assert mark is not None
    assert (mark.owner, mark.fits, mark.is_of("jobs.yaml")) == ("jobs.yaml", fits, fits)


def test_a_job_that_a_person_changes_after_the_plan_is_not_written_over(sweephand: CommandLine) -> None:
    client = Client(sweephand.server.url, "sh_admin")
    text = f"jobs: [{{name: a, schedule: '@daily', target: {TARGET}}}]"
    list(carry_out(client, "default", plan(client, "default", read_jobs_file(text, "a.yaml"))))
    later = text.replace("@daily", "@hourly")
    steps = plan(client, "default", read_jobs_file(later, "a.yaml"))
    client.jobs.patch("default", "a", {"schedule": "@weekly"})
    [done] = carry_out(client, "default", steps)
    assert done.problem is not None
    assert client.jobs.get("default", "a")["schedule"] == "@weekly"
