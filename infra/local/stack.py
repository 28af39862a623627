"""Starts a local stack until its health answers 200 (`up`), and ends it again (`down`)."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import urllib3
from infra.local import inbox, ministack, processes
from infra.local.build import Built, build
from infra.local.client import Client
from infra.local.deploy import admin_secret, deploy, invoke, outputs
from infra.local.places import ADMIN_SECRET, REGION, Place, StackError, write_private

_HEALTH_S = 60
_OK = 200
_SAY = partial(print, flush=True)

#: How many API functions and authorizers `up` starts before it says that the stack answers. A first minute of
#: trying needs so many at once. Each takes half a second of a core.
_WARM = 3

#: The delivery functions that `up` starts. By default these are all that the stack runs at once.
_DELIVERIES_WARM = 8


def up(place: Place, say: Callable[[str], None] = _SAY) -> dict[str, Any]:
    """Start the stack and return its description, which is also in its stack file.

    A stack that is up already keeps its data, and gets the changes of the template and the code. Otherwise
    this function ends and removes what a crashed run has left on the port, and starts a new stack. If that
    fails, it leaves nothing running. Raises StackError.
    """
    began = time.monotonic()

    def step(text: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {text}")

    was_up = is_up(place)
    if not was_up:
        down(place)
    step("building the functions and layers")
    built = build()
    try:
        if not was_up:
            step(f"starting a local AWS on {place.endpoint_url}")
            ministack.start(place)
        if not _has(place, built):
            step(f"deploying to {place.endpoint_url}")
            _deploy(place, built)
        stack = describe(place)
        health = _wait_until_healthy(stack["apiUrl"])
        if not was_up:
            _warm_api(stack)
    except BaseException:
        if not was_up:
            processes.stop(place.pid_file)
        raise
    _publish(place, stack)
    step(f"{stack['apiUrl']} answers")
    if not health["enabled"]:
        step("the stack is switched off (Enabled=false): it delivers nothing")
    return stack


def _has(place: Place, built: Built) -> bool:
    is_deployed = place.deployed.exists() and place.deployed.read_text(encoding="utf-8") == built.digest
    # Deploying stores the digest of the admin key, which a new secret needs.
    return is_deployed and ADMIN_SECRET.exists()


def _deploy(place: Place, built: Built) -> None:
    place.deployed.unlink(missing_ok=True)
    deploy(place, built.artifacts)
    _wake(place)
    place.deployed.write_text(built.digest, encoding="utf-8")


def is_up(place: Place) -> bool:
    """Whether `up` has succeeded on this port and its stack still runs."""
    return place.stack_file.exists() and ministack.running(place)


def down(place: Place) -> bool:
    """End what `up` started on this port, and nothing else. Returns whether anything ran."""
    place.stack_file.unlink(missing_ok=True)
    inbox.stop(place)
    return processes.stop(place.pid_file)


def describe(place: Place) -> dict[str, Any]:
    """The addresses, names and admin key that a client needs to use this stack."""
    told = outputs(place)
    return {
        "apiUrl": f"{place.endpoint_url}/_aws/execute-api/{told['ApiId']}",
        "apiKey": f"sh_admin_{admin_secret()}",
        "awsEndpointUrl": place.endpoint_url,
        "region": REGION,
        "tables": {"jobs": told["JobsTableName"], "timers": told["TimersTableName"]},
        "queues": {
            "delivery": told["DeliveryQueueUrl"],
            "flow": told["FlowQueueUrl"],
            "deadLetter": told["DeadLetterQueueUrl"],
        },
    }


def _wake(place: Place) -> None:
    """Invoke tick, and the delivery functions and a flow function without a message.

    The schedule starts tick only a minute later, and until then health would find no heartbeat. A cold
    delivery function takes seconds to start if others start beside it, so its first delivery would be late.
    """
    invoke(place, "Tick", {})
    with ThreadPoolExecutor(_DELIVERIES_WARM) as threads:
        list(threads.map(lambda _: invoke(place, "Deliver", {"Records": []}), range(_DELIVERIES_WARM)))
    invoke(place, "Flow", {"Records": []})


def _warm_api(stack: dict[str, Any]) -> None:
    """Start some API functions and authorizers, by several requests at the same time."""
    with Client.of(stack) as client, ThreadPoolExecutor(_WARM) as threads:
        list(threads.map(lambda _: client.ask("GET", "/v1/limits"), range(_WARM)))


def _wait_until_healthy(api_url: str) -> dict[str, Any]:
    """Wait until health answers 200, and return its answer. Raises StackError."""
    deadline = time.monotonic() + _HEALTH_S
    while True:
        response = urllib3.request("GET", f"{api_url}/v1/health", timeout=30, retries=False)
        if response.status == _OK:
            health: dict[str, Any] = response.json()
            return health
        if time.monotonic() > deadline:
            body = response.data.decode(errors="replace")
            raise StackError(f"{api_url}/v1/health answers {response.status}: {body}")
        time.sleep(0.5)


def _publish(place: Place, stack: dict[str, Any]) -> None:
    # The file holds the admin key, so only its owner may read it.
    place.stack_file.unlink(missing_ok=True)
    write_private(place.stack_file, json.dumps(stack, indent=2) + "\n")
