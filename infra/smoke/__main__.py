"""The command: deploy a stack of its own, run every check on it, and remove everything again."""

import argparse
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from infra.local import stack as local
from infra.local.build import build
from infra.local.client import Client
from infra.local.deploy import Aws, aws_of
from infra.local.deploy import deploy as local_deploy
from infra.local.places import STACK_NAME, Place, StackError, free_port
from infra.local.processes import ENDING, end_on_signals
from infra.smoke import account
from infra.smoke.checks import Check, Result, exit_code, outcomes, row, summary
from infra.smoke.failing import FAILING
from infra.smoke.gateway import GATEWAY
from infra.smoke.lateness import LATENESS
from infra.smoke.outage import OUTAGE
from infra.smoke.rights import RIGHTS
from infra.smoke.stage import ON_AWS, ON_THIS_MACHINE, Given, Queues, Stage
from infra.smoke.switches import switched

from sweephand_deploy.errors import DeployError

#: In an account the checks run one after the other. Otherwise they would disturb the lateness that one of
#: them measures.
LANES: Sequence[Sequence[Check]] = [each.checks for each in (RIGHTS, FAILING, GATEWAY, LATENESS, OUTAGE)]

_REMOVE = 'This removes it: make smoke-aws ARGS="--remove {}"'

#: Options for switches that need something of the account (stage.Given).
_GIVEN = (
    ("--kms-key", "ARN", "the KMS key to switch to; else one is made"),
    ("--subnets", "IDS", "of a VPC to switch to, with commas between"),
    ("--security-groups", "IDS", "of deliveries in these subnets"),
    ("--issuer", "URL", "of tokens, to show AuthMode=jwt"),
    ("--audience", None, "that the tokens are for"),
    ("--token", None, "a token of the issuer with the role admin for *"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 1 if a check failed or something could not be removed, else 0.

    `arguments` are those of the command line, by default the ones that the process was started with.
    """
    end_on_signals()
    asked = _parse(arguments)
    if asked.local:
        return _on_this_machine(asked)
    if os.environ.get("CI"):
        print("This is never run by CI: it deploys to an AWS account and costs money.", file=sys.stderr)
        return 1
    aws = Aws(boto3.Session())
    if asked.remove:
        return _done([], account.remove(asked.remove, aws), asked.remove)
    return on_aws(asked, aws)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.smoke", description=__doc__)
    parser.add_argument("--local", action="store_true", help="on a local stack, shortened")
    parser.add_argument("--consumer", metavar="URL", help="an https endpoint that answers a POST with 2xx")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a stack parameter")
    for option, metavar, told in _GIVEN:
        parser.add_argument(option, default="", metavar=metavar, help=told)
    parser.add_argument("--yes", action="store_true", help="do not ask before deploying to the account")
    parser.add_argument("--keep", action="store_true", help="leave the stack there, for a day's bill")
    parser.add_argument("--remove", metavar="STACK", help="remove a stack that is left, and end")
    asked = parser.parse_args(arguments)
    if bool(asked.subnets) != bool(asked.security_groups):
        parser.error("give --subnets and --security-groups together")
    if len({bool(each) for each in (asked.issuer, asked.audience, asked.token)}) > 1:
        parser.error("give --issuer, --audience and --token together")
    return asked


def on_aws(
    asked: argparse.Namespace,
    aws: Aws,
    lanes: Sequence[Sequence[Check]] = LANES,
    flip: Callable[[Stage, argparse.Namespace], Iterator[Result]] | None = None,
) -> int:
    """Deploy a stack, run the checks of `lanes` on it, flip its switches and back, and remove it.

    `flip` makes the results of the flip. Returns the exit code.
    """
    stack = f"sweephand-smoke-{secrets.token_hex(3)}"
    owner = aws.client("sts").get_caller_identity()["Account"]
    print(f"Deploys {stack} to account {owner}, {aws.region}. Takes 75 minutes and costs about $0.03.")
    if not asked.yes and input("Go on? [y/N] ").strip().lower() != "y":
        return 1
    results, left = list[Result](), list[str]()
    try:
        account.deploy(stack, aws, asked.set)
        told = aws.outputs(stack)
        key = aws.invoke(told["AdminKeyFunctionName"], {})["key"]
        with Client(told["ApiUrl"], key) as client:
            queues = Queues(aws.client("sqs"), stack)
            stage = Stage(stack, aws, told, client, queues, ON_AWS, asked.consumer)
            for lane in lanes:
                _show(results, outcomes(lane, stage))
            _show(results, (flip or _flips_on_aws)(stage, asked))
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        results.append(Result("whole", "All checks are run.", "failed", "interrupted", 0))
    except (StackError, DeployError, BotoCoreError, ClientError) as error:
        results.append(Result("deploy", "The template deploys into this account.", "failed", str(error), 0))
    finally:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not stop the removal half-way
        if asked.keep:
            print(f"{stack} stays. It costs about $0.39 a month. {_REMOVE.format(stack)}")
        else:
            print(f"removing {stack}", flush=True)
            left = account.remove(stack, aws)
    return _done(results, left, stack)


def _on_this_machine(asked: argparse.Namespace) -> int:
    place, results = Place(free_port()), list[Result]()
    try:
        described = local.up(place)
        aws = aws_of(place)
        with Client.of(described) as client:
            told, queues = aws.outputs(STACK_NAME), Queues(aws.client("sqs"), "sweephand-smoke")
            stage = Stage(STACK_NAME, aws, told, client, queues, ON_THIS_MACHINE, asked.consumer)
            with ThreadPoolExecutor(len(LANES)) as lanes:
                running = [lanes.submit(_show, results, outcomes(lane, stage)) for lane in LANES]
                for each in running:
                    each.result()
            _show(results, _flips_here(stage, place))
    finally:
        local.down(place)
    code = _done(results, [], STACK_NAME)
    if code == 0:
        shutil.rmtree(place.home, ignore_errors=True)
    return code


def _flips_on_aws(stage: Stage, asked: argparse.Namespace) -> Iterator[Result]:
    """The results with the switches flipped, by the key that was named or a new one."""
    with suppress(BotoCoreError, ClientError):  # without a key the others are flipped all the same
        asked.kms_key = asked.kms_key or account.make_key(stage.stack, stage.aws)
    given = Given(**{each.name: getattr(asked, each.name) for each in fields(Given)})

    def deploy(parameters: Mapping[str, str]) -> None:
        account.update(stage.stack, stage.aws, [f"{name}={value}" for name, value in parameters.items()])

    yield from switched(stage, deploy, given, stage.aws.parameters(stage.stack))


def _flips_here(stage: Stage, place: Place) -> Iterator[Result]:
    def deploy(parameters: Mapping[str, str]) -> None:
        changed = tuple(f"{name}={value}" for name, value in parameters.items())
        local_deploy(Place(place.port, parameters=changed), build().artifacts)

    yield from switched(stage, deploy, Given(), stage.aws.parameters(stage.stack))


def _show(results: list[Result], more: Iterator[Result]) -> None:
    for result in more:
        results.append(result)
        print(row(result), flush=True)


def _done(results: Sequence[Result], left: Sequence[str], stack: str) -> int:
    print(f"\n{summary(results)}")
    for each in left:
        print(f"NOT REMOVED: {each}", file=sys.stderr)
    if left:
        print(f"Try again later. {_REMOVE.format(stack)}", file=sys.stderr)
    return exit_code(results, left)


if __name__ == "__main__":
    sys.exit(main())
