"""What `make up` prints, and the demo of `make run`: a few jobs, and each delivery as it arrives."""

from collections.abc import Mapping
from typing import Any, Final

import urllib3
from infra.local.client import Client
from infra.local.inbox import FAILING
from infra.local.receiver import HEAD

_NAMESPACE: Final = "demo"
# The job that first_steps() explains how to write.
_MINE: Final = "hello"

#: The demo's jobs by their names, each with the path at which the inbox receives it.
_JOBS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "in-five-seconds": ("/hello", {"dueTime": "5s", "data": {"hello": "world"}}),
    "every-ten-seconds": ("/ticker", {"schedule": "@every 10s"}),
    "on-the-minute-in-kathmandu": ("/kathmandu", {"schedule": "0 * * * * *", "timezone": "Asia/Kathmandu"}),
    "fails-twice": (
        FAILING,
        {"dueTime": "3s", "retry": {"initialDelay": "2s", "multiplier": 1, "maxAttempts": 5}},
    ),
}

#: The inbox answers a reader within a minute.
_READ_S: Final = 90


def first_steps(stack: Mapping[str, Any], inbox_url: str, *, ended_by: str) -> str:
    """The text for a stack as its file describes it; `ended_by` is the command that ends the stack."""
    return f"""
Paste these lines. They say where the stack is, for the examples here and in docs/:

export API={stack["apiUrl"]}
export KEY={stack["apiKey"]}
export INBOX={inbox_url}

Then deliver something in five seconds. The inbox waits for it and shows it:

curl -X PUT $API{_path(_MINE)} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{{"dueTime": "5s", "data": {{"hello": "world"}},
       "target": {{"type": "http", "url": "'$INBOX'/hello"}}}}'
curl $INBOX/next

A console is at {stack["apiUrl"]}/console. Sign in with the key.
Every call is described at {stack["apiUrl"]}/docs
`{ended_by}` ends the stack and deletes what it stored. The next stack has the same address and key."""


def show(stack: Mapping[str, Any], inbox_url: str, *, stays: bool) -> None:
    """Write the demo's jobs, and print what the inbox receives, until interrupted.

    If the stack `stays` up, the demo's jobs are deleted at the end.
    """
    with Client.of(stack) as client:
        try:
            for name, (path, job) in _JOBS.items():
                target = {"type": "http", "url": f"{inbox_url}{path}"}
                client.ask("PUT", _path(name), {**job, "target": target})
            end = "these jobs; the stack was up before and stays" if stays else "everything"
            print(f"\nCtrl-C ends {end}.\n\n{HEAD}", flush=True)
            while True:
                page = urllib3.request("GET", f"{inbox_url}/next", timeout=_READ_S, retries=False)
                for line in page.data.decode().splitlines()[1:]:
                    print(line, flush=True)
        finally:
            for name in (*_JOBS, _MINE) if stays else ():
                client.call("DELETE", _path(name))


def _path(name: str) -> str:
    return f"/v1/namespaces/{_NAMESPACE}/jobs/{name}"
