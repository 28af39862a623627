"""Odd texts pass the deployed gateway, the stores and the queues unchanged, or are refused with 4xx."""

import json
from typing import Final

import pytest
import urllib3
from infra.local.client import Client
from infra.local.receiver import Receiver
from tests.e2e.schedule import Schedule
from tests.unit.web.http.test_unicode import ODD_TEXTS

#: Paths and queries below a namespace, as they are sent.
ODD_PATHS: Final = (
    "jobs/%00",
    "jobs/a%00b",
    "jobs/%2e%2e",
    "jobs/%2e%2e/jobs",
    "jobs/%252e%252e",
    "jobs/..%2f..%2fkeys",
    "jobs/%FF",
    "jobs/%C0%AF",
    "jobs/%ED%A0%80",
    "jobs/%EF%BB%BFjob",
    "jobs/%E2%80%AEjob",
    "jobs/" + "x" * 5_000,
    "jobs?label=of:%FF",
    "jobs?cursor=%00",
    "jobs?cursor=" + "A" * 5_000,
    "jobs?prefix=%F0%9F%92%A5",
    "jobs?%00=1",
    "jobs/job/runs/%00",
    "jobs/job/runs/%E2%80%A8",
)


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


@pytest.mark.parametrize("path", ODD_PATHS, ids=range(len(ODD_PATHS)))
def test_an_odd_path_or_query_is_refused_with_4xx(client: Client, namespace: str, path: str) -> None:
    url = f"{client.api_url}/v1/namespaces/{namespace}/{path}"
    headers = {"authorization": f"Bearer {client.api_key}"}
    response = urllib3.request("GET", url, headers=headers, retries=False, timeout=30)
    assert 400 <= response.status < 500, response.data
