"""Odd texts pass the deployed gateway, the stores and the queues unchanged."""

import json

from tests.e2e.schedule import Schedule
from tests.fakes.receiver import Receiver
from tests.unit.web.http.test_unicode import ODD_TEXTS


def test_odd_texts_come_back_and_reach_the_consumer_as_they_were_written(
    schedule: Schedule, receiver: Receiver
) -> None:
    texts = {text: [text] for text in ODD_TEXTS.values()}
    labels = {f"of {number}": text for number, text in enumerate(list(ODD_TEXTS.values())[:20])}
    job = {"data": texts, "labels": labels, "description": "".join(ODD_TEXTS.values())[:512]}
    large = {**job, "data": {**texts, "padding": "\uffff\U0001f4a5" * 1_000}}
    for name, written in (("small", job), ("large", large)):
        target = {"type": "http", "url": receiver.url(f"/{name}")}
        schedule.put(name, dueTime="1s", target=target, **written)
        shown = schedule.client.ask("GET", schedule.path(name))
        assert {each: shown[each] for each in written} == written
        (delivery,) = receiver.wait(f"/{name}", 1, within_s=90)
        assert json.loads(delivery.body) == written["data"]
        assert delivery.is_signed
    schedule.do("small", "pause", {"reason": job["description"]})
    assert schedule.client.ask("GET", schedule.path("small"))["pauseReason"] == job["description"]
