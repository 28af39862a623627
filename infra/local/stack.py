"""What `up` and `down` mean: from nothing to a stack whose health answers 200, and back to nothing."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import urllib3
from infra.local import ministack, settings
from infra.local.build import build
from infra.local.deploy import deploy, session
from infra.local.places import LOCAL, PORT_DEFAULT, REGION, Place

_HEALTH_S = 30
_OK = 200


class NotHealthyError(Exception):
    """The stack is deployed and its health does not answer 200; the message says what it answers."""


def up(place: Place, say: Callable[[str], None] = print) -> dict[str, Any]:
    """The description of a stack that answers, which is also in its stack file.

    Always a new one: what an earlier run on this port has left is ended and removed. If anything fails,
    nothing is left running.
    """
    began = time.monotonic()

    def step(text: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {text}")

    down(place)
    step("building template.yaml")
    template = build()
    step(f"starting a local AWS on {place.endpoint_url}")
    ministack.start(place)
    try:
        step("deploying")
        outputs = deploy(place, template)
        settings.complete(place)
        stack = describe(place, outputs)
        step("waking it for the first time")
        _wake(place, outputs)
        _wait_until_healthy(stack["apiUrl"])
    except BaseException:
        ministack.stop(place)
        raise
    _publish(place, stack)
    step(f"{stack['apiUrl']} answers")
    return stack


def down(place: Place) -> bool:
    """Whether something ran. Ends what `up` started on this port, and nothing else."""
    general = _general_file()
    if place.stack_file.exists():
        if general.exists() and general.read_bytes() == place.stack_file.read_bytes():
            general.unlink()
        place.stack_file.unlink()
    return ministack.stop(place)


def describe(place: Place, outputs: dict[str, str]) -> dict[str, Any]:
    """All that a client needs to use this stack; the admin key is made of the secret the template made."""
    secrets = session().client("secretsmanager", endpoint_url=place.endpoint_url)
    secret = secrets.get_secret_value(SecretId=outputs["AdminKeySecretName"])["SecretString"]
    return {
        "apiUrl": f"{place.endpoint_url}/_aws/execute-api/{outputs['ApiId']}",
        "apiKey": f"sh_admin_{secret}",
        "awsEndpointUrl": place.endpoint_url,
        "region": REGION,
        "tables": {"jobs": outputs["JobsTableName"], "timers": outputs["TimersTableName"]},
        "queues": {"delivery": outputs["DeliveryQueueUrl"], "deadLetter": outputs["DeadLetterQueueUrl"]},
    }


def _wake(place: Place, outputs: dict[str, str]) -> None:
    """Wakes tick as the schedule will a minute later, since until then health would miss its heartbeat.

    And deliver, with nothing to deliver: its first delivery would be late by as long as it takes to start.
    """
    client = session().client("lambda", endpoint_url=place.endpoint_url)
    events: dict[str, dict[str, Any]] = {"Tick": {}, "Deliver": {"Records": []}}
    for function, event in events.items():
        answer = client.invoke(
            FunctionName=outputs[f"{function}FunctionName"],
            Qualifier="live",
            Payload=json.dumps(event).encode(),
        )
        if "FunctionError" in answer:
            raise NotHealthyError(f"{function} failed: {answer['Payload'].read().decode()}")


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
    text = json.dumps(stack, indent=2) + "\n"
    place.stack_file.write_text(text, encoding="utf-8")
    # The general name belongs to the default port, or to whoever is there first.
    if place.port == PORT_DEFAULT or not _general_file().exists():
        _general_file().write_text(text, encoding="utf-8")


def _general_file() -> Path:
    return LOCAL / "stack.json"
