"""The tasks that look: what fails and why, what comes, and what was changed."""

import time
from typing import Final

from infra.tasks.scene import Scene, in_days
from infra.tasks.steps import Choose, Click, Press, Task, Type, clicks, none, shell

#: How long a job is paused before somebody asks why it did not fire.
_PAUSED_S: Final = 3


#: What the console says of a delivery to a port at which nobody listens.
_REFUSED: Final = "Attempt 1 of 1 failed: No connection to 127.0.0.1, port 9: [Errno 111] Connection refused."


def _failing(scene: Scene) -> None:
    scene.put("digest")
    scene.run("digest", "succeeded")
    scene.put("sync", "/broken", retry={"maxAttempts": 1})
    scene.run("sync", "failed")


def _paused(scene: Scene) -> None:
    scene.put("nightly", schedule="* * * * * *")
    scene.ask("POST", "jobs/nightly/pause", {"reason": "The database moves."})
    paused_at = time.monotonic()
    scene.wait(lambda: time.monotonic() > paused_at + _PAUSED_S)
    scene.facts["AT"] = in_days(0).strftime("%Y-%m-%dT%H:%M:%S")


def _batch(scene: Scene) -> None:
    scene.put("mails", schedule="0 2 1 1 *", batch={"count": 20})
    batch = scene.ask("POST", "jobs/mails/trigger", {})["batchId"]
    scene.wait(lambda: scene.ask("GET", f"jobs/mails/batches/{batch}")["succeeded"] == 20)  # noqa: PLR2004 - all


def _changed(scene: Scene) -> None:
    scene.put("nightly", jitter="10s")
    scene.put("nightly", jitter="30s")


def _retried(scene: Scene) -> None:
    scene.put("sync", "/broken", retry={"maxAttempts": 2, "initialDelay": "1s"})
    scene.facts["RUN"] = scene.run("sync", "failed")


def _waiting(scene: Scene) -> None:
    scene.ask("PUT", "policies/customers", {"maxConcurrent": 1, "by": "label:customer"})
    for name, customer in (("a", "acme"), ("b", "acme"), ("c", "bolt")):
        scene.put(name, "/slow", policy="customers", labels={"customer": customer})
        scene.ask("POST", f"jobs/{name}/trigger", {})
    scene.wait(lambda: bool(scene.ask("GET", "policies/customers/keys")["items"]))


def _namespaces(scene: Scene) -> None:
    for place in ("east", "west"):
        other = Scene(scene.client, f"{scene.namespace}-{place}", scene.consumer)
        other.put(f"sync-{place}", "/broken", retry={"maxAttempts": 1})
        other.run(f"sync-{place}", "failed")
        scene.facts[place.upper()] = other.namespace
    scene.put("quiet")


def _causes(scene: Scene) -> None:
    scene.put("full", "/broken", retry={"maxAttempts": 1})
    scene.run("full", "failed")
    scene.put("gone", retry={"maxAttempts": 1}, target={"type": "http", "url": "http://127.0.0.1:9/"})
    scene.run("gone", "failed")


TASKS: Final = (
    Task(
        "Find the job that fails, and its answer",
        _failing,
        shell("sweephand run list --state failed"),
        shell("sweephand run list --state failed"),
        clicks(),
        clicks(),
        shown=("sync", "503"),
    ),
    Task(
        "Ask why a job did not fire a second ago",
        _paused,
        shell("sweephand why nightly --at $(date -u -d '1 second ago' +%FT%TZ)"),
        shell("sweephand why nightly --at 1s"),
        clicks(
            Click("Jobs"),
            Click("nightly"),
            Click("Why did it fire, or not?"),
            Type("Look at an instant of your zone", "$AT"),
            Click("Explain"),
        ),
        clicks(Click("nightly"), Click("Why did it fire, or not?")),
        shown=("paused",),
    ),
    Task(
        "See how far a batch is",
        _batch,
        shell("sweephand batch show mails"),
        shell("sweephand batch show mails"),
        clicks(Click("Jobs"), Click("mails")),
        clicks(Click("mails")),
        shown=("20 of 20",),
    ),
    Task(
        "See who changed what of a job",
        _changed,
        shell("sweephand job changes nightly --json"),
        shell("sweephand job changes nightly --json"),
        clicks(Click("Jobs"), Click("nightly"), Click("1 field")),
        clicks(Click("nightly")),
        shown=("10s", "30s"),
    ),
    Task(
        "See each attempt of a run, by its id",
        _retried,
        none("A run had only its last attempt."),
        shell("sweephand run show sync $RUN"),
        none("A run had only its last attempt."),
        clicks(
            Press("/"), Type("Jump to a job, a run, a screen or a namespace", "sync $RUN"), Press("Enter")
        ),
        shown=("mailbox full",),
    ),
    Task(
        "See what waits for which customer of a policy",
        _waiting,
        none("Policies had no limits by label."),
        shell("sweephand policy keys customers"),
        none("Policies had no limits by label."),
        clicks(Click("Policies"), Click("customers")),
        shown=("acme",),
    ),
    Task(
        "See the trouble of all namespaces",
        _namespaces,
        shell(
            "for each in $(sweephand namespace list | tail -n +2); "
            "do sweephand run list --namespace $each --state failed; done"
        ).showing("sync-east", "sync-west"),
        shell("sweephand overview").showing("$EAST", "$WEST"),
        clicks(Type("Namespace", "$EAST"), Type("Namespace", "$WEST")).showing("sync-west"),
        clicks(Click("Sweephand")).showing("$EAST", "$WEST"),
    ),
    Task(
        "List the failures of one cause",
        _causes,
        shell("sweephand run list --state failed | grep -v 503"),
        shell("sweephand run list --state failed --reason refused"),
        clicks(Click("Failures"), Choose("Group by", "answer")),
        clicks(Click(_REFUSED)),
        shown=("gone",),
    ),
)
