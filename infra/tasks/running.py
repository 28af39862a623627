"""The tasks that run jobs and hold them: redrive, cancel, pause, trigger, change and make up."""

from typing import Final

from infra.tasks.scene import Scene, in_days
from infra.tasks.steps import Choose, Click, Step, Task, Type, clicks, none, shell

#: The whole definition of the job `nightly`, as the editor shows it, with another jitter.
_WITH_JITTER: Final = (
    '{"schedule": "30 2 * * *", "timezone": "Europe/Paris", "data": {"task": "backup"}, "jitter": "30s", '
    '"target": {"type": "http", "url": "$HOOK"}}'
)

#: The rows of a table without its head, as the earlier commands printed no names alone.
_ROWS: Final = "tail -n +2 | while read"


def _failed(scene: Scene) -> None:
    scene.failed("digest", "invoices", "sync")


def _are_redriven(scene: Scene) -> bool:
    scene.wait(lambda: all(scene.states(each) == ["succeeded"] for each in ("digest", "invoices", "sync")))
    return True


def _team(scene: Scene) -> None:
    for name in ("backup", "report", "sync"):
        scene.put(name, labels={"team": "ops"})
    scene.put("other", labels={"team": "growth"})
    scene.facts["MORNING"] = in_days(1).strftime("%Y-%m-%dT08:00")


def _is_paused(scene: Scene) -> bool:
    """Whether the team's jobs resume by themselves, and another one is not paused."""
    states = [scene.job(each) for each in ("backup", "report", "sync", "other")]
    return [each["state"] for each in states] == ["paused"] * 3 + ["active"] and "pausedUntil" in states[0]


def _was_paused(scene: Scene) -> bool:
    """Whether the team's jobs are active, since an order has resumed them, and each was paused before."""
    changes = [scene.ask("GET", f"jobs/{each}/changes")["items"] for each in ("backup", "report", "sync")]
    return all([each["what"] for each in found][:2] == ["resumed", "paused"] for found in changes)


def _backup(scene: Scene) -> None:
    scene.put("nightly", schedule="30 2 * * *", timezone="Europe/Paris", data={"task": "backup"})
    scene.facts["YESTERDAY"] = in_days(-1).strftime("%Y-%m-%dT00:00:00")
    scene.facts["TODAY"] = in_days(0).strftime("%Y-%m-%dT00:00:00")


def _has_run(scene: Scene) -> bool:
    scene.wait(lambda: scene.states("nightly") == ["succeeded"])
    return True


def _has_jitter(scene: Scene) -> bool:
    job = scene.job("nightly")
    return (job.get("jitter"), job["timezone"], job["data"]) == ("30s", "Europe/Paris", {"task": "backup"})


def _retrying(scene: Scene) -> None:
    for name in ("digest", "invoices", "sync"):
        scene.put(name, retry={"initialDelay": "1h"}, target={"type": "http", "url": "http://127.0.0.1:9/"})
        scene.run(name, "retrying")


def _cancel(job: str) -> tuple[Step, ...]:
    """The steps that cancel the retried run of a job in the earlier console."""
    return (
        Click("Failures"),
        Choose("State", "retrying"),
        Click(job),
        Click("Cancel the run"),
        Click("Cancel the run"),
    )


def _are_cancelled(scene: Scene) -> bool:
    return all(scene.states(each) == ["cancelled"] for each in ("digest", "invoices", "sync"))


def _partner(scene: Scene) -> None:
    scene.ask("PUT", "policies/partner", {"maxConcurrent": 5})
    for name in ("orders", "prices"):
        scene.put(name, policy="partner")


def _is_still(scene: Scene) -> bool:
    is_policy_paused = scene.ask("GET", "policies/partner")["state"] == "paused"
    return is_policy_paused or all(scene.job(each)["state"] == "paused" for each in ("orders", "prices"))


_RUN_NOW: Final = (
    Click("nightly"),
    Click("Run now"),
    Type("Data (optional)", '{"task": "now"}'),
    Click("Run now"),
)

TASKS: Final = (
    Task(
        "Redrive what failed in the last hour",
        _failed,
        shell(
            "sweephand run list --state failed --since $(date -u -d '1 hour ago' +%FT%TZ) "
            f"| {_ROWS} job run rest; do sweephand run redrive $job $run; done"
        ),
        shell("sweephand run redrive --since 1h"),
        none("A whole day was redriven, or job by job."),
        clicks(
            Click("Failures"),
            Choose("Due in the last", "1h"),
            Click("Redrive all in this span …"),
            Click("Redrive 3"),
        ),
        holds=_are_redriven,
    ),
    Task(
        "Cancel what is retried against a dead endpoint",
        _retrying,
        shell(
            "sweephand run list --state retrying "
            f"| {_ROWS} job run rest; do sweephand run cancel $job $run; done"
        ),
        shell("sweephand run cancel --state retrying --reason refused"),
        clicks(*_cancel("digest"), *_cancel("invoices"), *_cancel("sync")),
        clicks(
            Click("3 will be tried again"),
            Click("Cancel all in this span …"),
            Click("Cancel 3"),
        ),
        holds=_are_cancelled,
    ),
    Task(
        "Pause a team's jobs until tomorrow morning",
        _team,
        shell("sweephand job pause --label team=ops", "sweephand job resume --label team=ops"),
        shell("sweephand job pause --label team=ops --until 'tomorrow 08:00'"),
        clicks(
            Click("Jobs"),
            Click("team:ops"),
            Click("Choose all jobs of this page"),
            Click("pause"),
            Click("Pause 3"),
            Click("Choose all jobs of this page"),
            Click("resume"),
            Click("Resume 3"),
        ),
        clicks(
            Click("team:ops"),
            Click("Pause all 3"),
            Type("Until (optional)", "$MORNING"),
            Click("Pause 3"),
        ),
        holds=lambda scene: _is_paused(scene) or _was_paused(scene),
    ),
    Task(
        "Run a job now with other data",
        _backup,
        shell("""sweephand job trigger nightly --data '{"task": "now"}'"""),
        shell("""sweephand job trigger nightly --data '{"task": "now"}'"""),
        clicks(Click("Jobs"), *_RUN_NOW),
        clicks(*_RUN_NOW),
        holds=_has_run,
    ),
    Task(
        "Change one field of a job",
        _backup,
        shell(
            "sweephand job get nightly",
            "sweephand job schedule nightly -s '30 2 * * *' -z Europe/Paris --url $HOOK "
            """--data '{"task": "backup"}' --field jitter='"30s"'""",
        ),
        shell("sweephand job patch nightly --jitter 30s"),
        clicks(
            Click("Jobs"),
            Click("nightly"),
            Click("Edit"),
            Type("The whole definition (JSON)", _WITH_JITTER),
            Click("Save"),
        ),
        clicks(Click("nightly"), Click("Edit"), Type("Later by up to", "30s"), Click("Save")),
        holds=_has_jitter,
    ),
    Task(
        "Make up for what was due yesterday",
        _backup,
        shell(
            "sweephand job backfill nightly --from $(date -u -d yesterday +%FT00:00:00Z) "
            "--to $(date -u +%FT00:00:00Z)"
        ),
        shell("sweephand job backfill nightly --from yesterday --to today"),
        clicks(
            Click("Jobs"),
            Click("nightly"),
            Click("Backfill"),
            Type("From", "$YESTERDAY"),
            Type("To, not included", "$TODAY"),
            Click("Backfill"),
        ),
        clicks(Click("nightly"), Click("Backfill"), Click("Backfill")),
        holds=_has_run,
    ),
    Task(
        "Stop all deliveries to a partner",
        _partner,
        shell(f"sweephand job list --policy partner | {_ROWS} job rest; do sweephand job pause $job; done"),
        shell("sweephand policy pause partner --reason 'Their certificate has expired.'"),
        clicks(
            Click("Jobs"),
            Click("orders"),
            Click("Pause"),
            Click("Pause"),
            Click("Jobs"),
            Click("prices"),
            Click("Pause"),
            Click("Pause"),
        ),
        clicks(Click("Policies"), Click("Pause partner"), Click("Pause")),
        holds=_is_still,
    ),
)
