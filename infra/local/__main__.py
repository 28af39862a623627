"""The commands of the local stack: up, down, run."""

import argparse
import sys

from infra.local import stack
from infra.local.build import CannotBuildError
from infra.local.deploy import CannotDeployError
from infra.local.ministack import CannotStartError
from infra.local.places import PORT_DEFAULT, Place


def main() -> int:
    """The exit code: 0, or 1 with a sentence that says what to do."""
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="Sweephand on a local AWS")
    parser.add_argument("command", choices=["up", "down", "run"])
    parser.add_argument("--port", type=int, default=PORT_DEFAULT, help=f"default {PORT_DEFAULT}")
    arguments = parser.parse_args()
    place = Place(arguments.port)
    try:
        if arguments.command == "up":
            stack.up(place)
            print(f"described in {place.stack_file}; `make down` ends it")
        elif arguments.command == "down":
            print("stopped" if stack.down(place) else f"nothing of ours runs on port {place.port}")
    except (CannotBuildError, CannotDeployError, CannotStartError, stack.NotHealthyError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
