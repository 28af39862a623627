"""What `up` and `down` mean: from nothing to a stack whose health answers 200, and back to nothing."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import urllib3
from infra.local import inbox, ministack, settings
from infra.local.build import Built, build
from infra.local.client import Client
from infra.local.deploy import deploy, invoke, outputs
from infra.local.places import ADMIN_SECRET, REGION, Place
from infra.local.private import write_private

_HEALTH_S = 60
_OK = 200
_SAY = partial(print, flush=True)

#: API functions and authorizers that are started before the stack is said to answer: what a first minute of
#: trying needs at once. Each takes half a second of a core.
_WARM = 3

#: At most so many delivery functions are started then. By default these are all that the stack runs at once.
_DELIVERIES_WARM_MAX = 8


class NotHealthyError(Exception):
    """The stack is deployed and its health does not answer 200; the message says what it answers."""


def up(place: Place, say: Callable[[str], None] = _SAY) -> dict[str, Any]:
    """The description of a stack that answers, which is also in its stack file.

    One that is up already keeps its data and gets what has changed. Else it is a new one: what a crashed
    run on this port has left is ended and removed, and if anything fails, nothing is left running.
    """
    began = time.monotonic()

    def step(text: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {text}")

    was_up = is_up(place)
    if not was_up:
        down(place)
    step("building template.yaml")
    built = build()
    try:
        if not was_up:
            step(f"starting a local AWS on {place.endpoint_url}")
            ministack.start(place)
        if not _has(place, built):
            step(f"deploying to {place.endpoint_url}")
            _deploy(place, built)
        stack = describe(place)
        _wait_until_healthy(stack["apiUrl"])
        if not was_up:
            _warm_api(stack)
    except BaseException:
        if not was_up:
            ministack.stop(place)
        raise
    _publish(place, stack)
    step(f"{stack['apiUrl']} answers")
    return stack


def _has(place: Place, built: Built) -> bool:
    is_deployed = place.deployed.exists() and place.deployed.read_text(encoding="utf-8") == built.digest
    # Deploying stores the digest of the admin key, which a new secret needs.
    return is_deployed and ADMIN_SECRET.exists()


def _deploy(place: Place, built: Built) -> None:
    place.deployed.unlink(missing_ok=True)
    deploy(place, built.template)
    settings.complete(place)
    _wake(place)
    place.deployed.write_text(built.digest, encoding="utf-8")


def is_up(place: Place) -> bool:
    """Whether `up` has succeeded on this port and its stack still runs."""
    return place.stack_file.exists() and ministack.running(place)


def down(place: Place) -> bool:
    """Whether something ran. Ends what `up` started on this port, and nothing else."""
    place.stack_file.unlink(missing_ok=True)
    inbox.stop(place)
    return ministack.stop(place)


def describe(place: Place) -> dict[str, Any]:
    """All that a client needs to use this stack."""
    told = outputs(place)
    return {
        "apiUrl": f"{place.endpoint_url}/_aws/execute-api/{told['ApiId']}",
        "apiKey": f"sh_admin_{settings.admin_secret()}",
        "awsEndpointUrl": place.endpoint_url,
        "region": REGION,
        "tables": {"jobs": told["JobsTableName"], "timers": told["TimersTableName"]},
        "queues": {"delivery": told["DeliveryQueueUrl"], "deadLetter": told["DeadLetterQueueUrl"]},
    }


def _wake(place: Place) -> None:
    """Wake tick as the schedule will a minute later: until then health would miss its heartbeat.

    Wake the delivery functions too, with nothing to deliver. A cold one takes seconds to start when others
    start beside it, and its first delivery would be late by that.
    """
    invoke(place, "Tick", {})
    count = min(settings.deliveries_max(place), _DELIVERIES_WARM_MAX)
    with ThreadPoolExecutor(count) as threads:
        list(threads.map(lambda _: invoke(place, "Deliver", {"Records": []}), range(count)))


def _warm_api(stack: dict[str, Any]) -> None:
    """Have some API functions and authorizers started, by requests that are under way at once."""
    with Client.of(stack) as client, ThreadPoolExecutor(_WARM) as threads:
        list(threads.map(lambda _: client.ask("GET", "/v1/limits"), range(_WARM)))


def _wait_until_healthy(api_url: str) -> None:
    deadline = time.monotonic() + _HEALTH_S
    while True:
        response = urllib3.request("GET", f"{api_url}/v1/health", timeout=30, retries=False)
        if response.status == _OK:
            return
        if time.monotonic() > deadline:
            body = response.data.decode(errors="replace")
            raise NotHealthyError(f"{api_url}/v1/health answers {response.status}: {body}")
        time.sleep(0.5)


def _publish(place: Place, stack: dict[str, Any]) -> None:
    # It holds the admin key: its owner alone may read it, also if an earlier release wrote it for everyone.
    place.stack_file.unlink(missing_ok=True)
    write_private(place.stack_file, json.dumps(stack, indent=2) + "\n")
