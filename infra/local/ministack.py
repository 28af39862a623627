"""Starting the local AWS: on loopback only, closed to pages of other sites, without data of an earlier run.

It runs in a process group of its own.
"""

import shutil

import urllib3
from infra.local import processes
from infra.local.places import GUARD, MINISTACK_PYTHON, REGION, Place, StackError, environment, free_port

_START_S = 90  # it takes a second on an idle machine

#: The services that functions call at the address which a place gives them.
_PROXIED = ("DYNAMODB", "LAMBDA", "SQS")


def start(place: Place) -> None:
    """Start the local AWS and return when it answers. Raises StackError.

    What an earlier run on this port has left is ended and removed first.
    """
    processes.stop(place.pid_file)
    if free_port(place.port) != place.port:
        raise StackError(
            f"port {place.port} of 127.0.0.1 is taken by another program; choose another port: PORT=4800"
        )
    shutil.rmtree(place.home, ignore_errors=True)
    for folder in ("tmp", "state", "s3"):
        (place.home / folder).mkdir(parents=True)
    command = [MINISTACK_PYTHON, "-P", GUARD]
    processes.start_until(command, _environment(place), place.pid_file, lambda: answers(place), _START_S)


def running(place: Place) -> bool:
    """Whether the process that `start` recorded runs and answers."""
    return processes.recorded(place.pid_file) is not None and answers(place)


def answers(place: Place) -> bool:
    """Whether ministack answers on the port."""
    try:
        response = urllib3.request("GET", f"{place.endpoint_url}/_ministack/health", timeout=2, retries=False)
    except urllib3.exceptions.HTTPError:
        return False
    return response.status == 200  # noqa: PLR2004 - OK


def _environment(place: Place) -> dict[str, str]:
    # The functions inherit these. AWS_ENDPOINT_URL stays ministack's: functions answer CloudFormation there.
    called = {f"AWS_ENDPOINT_URL_{each}": place.functions_call for each in _PROXIED if place.functions_call}
    return {
        **environment(),
        **called,
        "BIND_HOST": "127.0.0.1",
        "IOT_MTLS_ENABLED": "0",  # the only listener that ignores BIND_HOST
        "MINISTACK_HOST": "127.0.0.1",  # the host in queue URLs; on some machines "localhost" is ::1 first
        "GATEWAY_PORT": str(place.port),
        "MINISTACK_REGION": REGION,
        "TMPDIR": str(place.home / "tmp"),
        "STATE_DIR": str(place.home / "state"),
        "S3_DATA_DIR": str(place.home / "s3"),
        "LOG_LEVEL": "WARNING",
        "AUTH": "true" if place.enforces_roles else "false",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
