"""A stack delivers on the days of a calendar alone, and its jobs follow a change."""

import datetime as dt

from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually

#: Often enough that a job which does not skip would be seen.
EACH_SECOND = "* * * * * *"


def test_a_job_skips_closed_days_and_follows_its_calendar(scene: Scene) -> None:
    client, today = scene.schedule.client, dt.datetime.now(dt.UTC).date()
    path = f"/v1/namespaces/{scene.schedule.namespace}/calendars/works"
    closed = {"from": str(today - dt.timedelta(days=1)), "to": str(today + dt.timedelta(days=2))}
    client.ask("PUT", path, {"weekend": [], "closed": [closed]})
    for days in ("open", "closed"):
        calendar = {"name": "works", "days": days}
        scene.schedule.put(days, schedule=EACH_SECOND, calendar=calendar, target=scene.target(days))
    scene.receiver.wait("/closed", 2, within_s=90)
    assert scene.receiver.deliveries("/open") == []
    client.ask("PUT", path, {"weekend": []})
    scene.receiver.wait("/open", 2, within_s=90)
    eventually(lambda: [client.ask("GET", path)], lambda seen: seen["jobsChanged"] == 2)
    changes = client.ask("GET", f"{scene.schedule.path('open')}/changes")["items"]
    assert changes[0]["reason"] == "The calendar works was changed."
    for days in ("open", "closed"):
        client.ask("DELETE", scene.schedule.path(days))
    assert client.call("DELETE", path).status == 204
