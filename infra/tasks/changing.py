"""The tasks that write and end: reminders, secrets, calendars, keys, and jobs that are retired."""

from typing import Final

from infra.local.client import write_jobs
from infra.tasks.scene import Scene, in_days
from infra.tasks.steps import Click, Task, Type, clicks, none, shell

_REMINDERS: Final = 200


def _reminders(scene: Scene) -> None:
    target, labels = scene.target(), {"campaign": "spring"}
    due = in_days(30).strftime("%Y-%m-%dT09:00:00Z")
    jobs = [{"name": f"reminder-{number}", "dueTime": due, "target": target} for number in range(_REMINDERS)]
    write_jobs(scene.client, scene.namespace, [{**each, "labels": labels} for each in jobs])
    scene.put("other", dueTime=due)
    scene.facts |= {"DAY": due[:10], "LATER": in_days(31).strftime("%Y-%m-%d")}


def _are_moved(scene: Scene) -> bool:
    """Whether all reminders are due a day later, and another job is not."""
    later = [
        each["name"]
        for page in pages(scene)
        for each in page
        if each["nextRun"].startswith(scene.facts["LATER"])
    ]
    return len(later) == _REMINDERS and "other" not in later


def pages(scene: Scene) -> list[list[dict[str, str]]]:
    """All jobs of the namespace, in the pages of their list."""
    found: list[list[dict[str, str]]] = []
    cursor = ""
    while True:
        page = scene.ask("GET", f"jobs?limit=200{cursor}")
        found.append(page["items"])
        if "nextCursor" not in page:
            return found
        cursor = f"&cursor={page['nextCursor']}"


def _signing(scene: Scene) -> None:
    scene.put("digest")
    scene.facts["OLD"] = scene.client.signing_secrets(scene.namespace)[0]


def _is_ended(scene: Scene) -> bool:
    return scene.facts["OLD"] not in scene.client.signing_secrets(scene.namespace)


def _key(scene: Scene) -> None:
    body = {"namespace": scene.namespace, "role": "read", "description": f"dashboard of {scene.namespace}"}
    scene.facts["ID"] = scene.client.ask("POST", "/v1/keys", body)["id"]


def _is_rotated(scene: Scene) -> bool:
    keys = scene.client.ask("GET", "/v1/keys")["items"]
    return any(each.get("replacedBy") for each in keys if each["id"] == scene.facts["ID"])


def _retired(scene: Scene) -> None:
    for name in ("old-a", "old-b", "old-c", "new"):
        scene.put(name)


def _are_deleted(scene: Scene) -> bool:
    return [each["name"] for page in pages(scene) for each in page] == ["new"]


def _nothing(scene: Scene) -> None:
    """The namespace has no job yet."""


def _is_on_open_days(scene: Scene) -> bool:
    job = scene.job("cleaning")
    return job is not None and job.get("calendar") == {"name": "fr"}


#: A way that is as it was.
_ROTATE: Final = clicks(
    Click("Keys"), Click("Rotate $ID"), Type("The old key works for another", "1h"), Click("Rotate")
)

TASKS: Final = (
    Task(
        "Move 200 reminders by a day",
        _reminders,
        shell(
            "sweephand export --file all.jsonl",
            'sed -i "/spring/s/$DAY/$LATER/g" all.jsonl',
            "sweephand import all.jsonl --replace",
        ),
        shell('sweephand job patch --where campaign=spring --due "$LATER 09:00"'),
        none("Each job has to be edited alone."),
        none("Each job has to be edited alone."),
        holds=_are_moved,
    ),
    Task(
        "End a leaked signing secret at once",
        _signing,
        none("An old secret signed for another day."),
        shell("sweephand secret signing --rotate --end-old"),
        none("An old secret signed for another day."),
        clicks(
            Click("Secrets"),
            Click("A secret has leaked"),
            Type("Type $NAMESPACE to confirm", "$NAMESPACE"),
            Click("Replace them"),
        ),
        holds=_is_ended,
    ),
    Task(
        "Make a job that fires on a country's working days",
        _nothing,
        none("There were no calendars."),
        shell(
            "sweephand calendar put fr --holidays FR",
            "sweephand job schedule cleaning -s '0 8 * * *' -z Europe/Paris --calendar fr --url $HOOK",
        ),
        none("There were no calendars."),
        clicks(
            Click("Calendars"),
            Click("New calendar"),
            Type("Name", "fr"),
            Type("The calendar (JSON)", '{"holidays": [{"country": "FR"}]}'),
            Click("Create"),
            Click("Jobs"),
            Click("Write the first one"),
            Type("Name", "cleaning"),
            Type("URL", "$HOOK"),
            Type("Calendar", "fr"),
            Click("Create"),
        ),
        holds=_is_on_open_days,
    ),
    Task(
        "Rotate an API key, with an hour of both",
        _key,
        shell("sweephand key list", "sweephand key rotate $ID --overlap 1h"),
        shell("sweephand key list", "sweephand key rotate $ID --overlap 1h"),
        _ROTATE,
        _ROTATE,
        holds=_is_rotated,
    ),
    Task(
        "Delete the jobs of a retired service",
        _retired,
        shell("sweephand job delete --prefix old- --yes"),
        shell("sweephand job delete --prefix old- --yes"),
        clicks(
            Click("Jobs"),
            Type("Name begins with", "old-"),
            Click("Choose all jobs of this page"),
            Click("delete"),
            Type("Type 3 to confirm", "3"),
            Click("Delete 3"),
        ),
        clicks(
            Click("Jobs"),
            Type("Name begins with", "old-"),
            Click("Delete all 3"),
            Click("Delete 3"),
        ),
        holds=_are_deleted,
    ),
)
