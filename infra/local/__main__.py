"""The commands of the local stack: up, down, run."""

import argparse
import signal
import sys
from typing import Any

from infra.local import demo, inbox, processes, stack
from infra.local.client import RefusedError
from infra.local.places import PORT_DEFAULT, Place, StackError


def main() -> int:
    """The exit code: 0, or 1 with a sentence that says what to do."""
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="Sweephand on a local AWS")
    parser.add_argument("command", choices=["up", "down", "run"])
    parser.add_argument("--port", type=int, default=PORT_DEFAULT, help=f"default {PORT_DEFAULT}")
    arguments = parser.parse_args()
    place = Place(arguments.port)
    try:
        if arguments.command == "up":
            _up(place)
        elif arguments.command == "down":
            print("stopped" if stack.down(place) else f"nothing of ours runs on port {place.port}")
        else:
            _run(place)
    except (StackError, RefusedError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    return 0


def _up(place: Place) -> tuple[dict[str, Any], str]:
    """Start the stack and its inbox, and print what to paste. The stack's description, and the inbox."""
    described, inbox_url = stack.up(place), inbox.start(place)
    print(demo.first_steps(described, inbox_url, ended_by=_down(place)))
    return described, inbox_url


def _run(place: Place) -> None:
    """Run the stack and the demo until interrupted, then end the stack if this command started it.

    Ctrl-C, a closed terminal and a failure all end it. A stack that was up before stays up.
    """
    processes.end_on_signals()
    was_up = stack.is_up(place)
    try:
        demo.show(*_up(place), stays=was_up)
    except KeyboardInterrupt:
        print(f"\nthe stack was up before; `{_down(place)}` ends it" if was_up else "\nstopping")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not stop the shutdown half-way
        if not was_up:
            stack.down(place)


def _down(place: Place) -> str:
    return "make down" if place.port == PORT_DEFAULT else f"make down PORT={place.port}"


if __name__ == "__main__":
    sys.exit(main())
