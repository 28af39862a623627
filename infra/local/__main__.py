"""The commands of the local stack: up and down."""

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from infra.local import inbox, stack
from infra.local.client import RefusedError
from infra.local.places import PORT_DEFAULT, Place, StackError


def main() -> int:
    """The exit code: 0, or 1 with a sentence that says what to do."""
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="Sweephand on a local AWS")
    parser.add_argument("command", choices=["up", "down"])
    parser.add_argument("--port", type=int, default=PORT_DEFAULT, help=f"default {PORT_DEFAULT}")
    arguments = parser.parse_args()
    place = Place(arguments.port)
    try:
        if arguments.command == "up":
            print(first_steps(stack.up(place), inbox.start(place), ended_by=_down(place)))
        else:
            print("stopped" if stack.down(place) else f"nothing of ours runs on port {place.port}")
    except (StackError, RefusedError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    return 0


def first_steps(stack: Mapping[str, Any], inbox_url: str, *, ended_by: str) -> str:
    """The text for a stack as its file describes it; `ended_by` is the command that ends the stack."""
    return f"""
Paste these lines. They say where the stack is, for the examples here and in docs/:

export API={stack["apiUrl"]}
export KEY={stack["apiKey"]}
export INBOX={inbox_url}

Then deliver something in five seconds. The inbox waits for it and shows it:

curl -X PUT $API/v1/namespaces/demo/jobs/hello \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{{"dueTime": "5s", "data": {{"hello": "world"}},
       "target": {{"type": "http", "url": "'$INBOX'/hello"}}}}'
curl $INBOX/next

A console is at {stack["apiUrl"]}/console. Sign in with the key.
Every call is described at {stack["apiUrl"]}/docs
`{ended_by}` ends the stack and deletes what it stored. The next stack has the same address and key."""


def _down(place: Place) -> str:
    return "make down" if place.port == PORT_DEFAULT else f"make down PORT={place.port}"


if __name__ == "__main__":
    sys.exit(main())
