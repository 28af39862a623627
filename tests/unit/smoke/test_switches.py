"""The stack is deployed with its switches flipped, by way of drained lanes, and then as it was."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace
from typing import Any, cast

import pytest
from infra.local.client import SigningClient
from infra.local.deploy import Aws
from infra.smoke import __main__ as command
from infra.smoke import switches
from infra.smoke.checks import Result
from infra.smoke.stage import ON_AWS, Given, Queues, Stage
from urllib3.exceptions import ReadTimeoutError

KEY = "arn:aws:kms:eu-west-1:123456789012:key/1"
EVERYTHING = Given(KEY, "subnet-1,subnet-2", "sg-1", "https://issuer.example", "sweephand", "e.y.J")
NOTHING = Given()
BEFORE = {
    "FlowPolicies": "off",
    "PriorityLanes": "off",
    "Stats": "off",
    "AuthMode": "keys",
    "KmsKeyArn": "",
    "VpcSubnetIds": "",
    "VpcSecurityGroupIds": "",
    "JwtIssuer": "",
    "JwtAudience": "",
    "LogLevel": "DEBUG",
}


CALLER = "arn:aws:sts::123456789012:assumed-role/operators/ann"


def account(arn: str = CALLER, error: str | None = None) -> Aws:
    """An account whose caller has that ARN, and whose stack makes admin keys or fails with that error.

    Every other call fails.
    """
    failed = {} if error is None else {"FunctionError": "Unhandled"}

    def invoke(**_: object) -> dict[str, Any]:
        return {"Payload": BytesIO((error or "{}").encode()), **failed}

    clients = {
        "sts": SimpleNamespace(get_caller_identity=lambda: {"Arn": arn}),
        "iam": SimpleNamespace(
            get_role=lambda RoleName: {"Role": {"Arn": f"arn:aws:iam::123456789012:role/team/{RoleName}"}}  # noqa: N803 - boto3's name
        ),
        "lambda": SimpleNamespace(invoke=invoke),
    }
    session: Any = SimpleNamespace(
        region_name="eu-west-1",
        get_credentials=lambda: SimpleNamespace(get_frozen_credentials=lambda: "credentials"),
    )
    session.client = lambda service, **_: clients[service]
    return Aws(session)


def stage(aws: Aws) -> Stage:
    told = {"AdminKeyFunctionName": "admin-key"}
    client = cast("Any", SimpleNamespace(api_url="https://api.example"))
    return Stage("sweephand-smoke-1", aws, told, client, Queues(None, "sweephand-smoke-1"), ON_AWS)


@pytest.fixture(autouse=True)
def no_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks are not run. What they show needs a stack."""
    monkeypatch.setattr(switches, "outcomes", lambda *_: iter(()))


def deployed(given: Given, failing: str = "") -> tuple[list[Mapping[str, str]], list[Result]]:
    """The parameters of each deployment and the results, if that deployment fails."""
    made: list[Mapping[str, str]] = []

    def deploy(parameters: Mapping[str, str]) -> None:
        made.append(parameters)
        if parameters.get("PriorityLanes") == failing:
            raise RuntimeError("sam deploy failed")

    return made, list(switches.switched(stage(account()), deploy, given, BEFORE))


@pytest.mark.parametrize("given", [NOTHING, EVERYTHING, Given(kms_key=KEY)])
def test_every_parameter_that_was_changed_gets_back_its_former_value(given: Given) -> None:
    made, results = deployed(given)
    left = {name: value for each in made for name, value in each.items()}
    kept = {"OtherKmsKeyArns": KEY} if given.kms_key else {}
    if given.subnets:
        kept |= {"VpcSubnetIds": given.subnets, "VpcSecurityGroupIds": given.security_groups}
    # What the key has encrypted must stay readable. Lambda removes network interfaces with the role's rights.
    assert left.items() <= (BEFORE | kept).items()
    assert kept.items() <= left.items()
    assert "LogLevel" not in made[-1]
    assert [each.verdict for each in results] == ["passed"] * len(made)


def test_the_functions_may_use_the_key_before_it_encrypts_anything() -> None:
    grant, flip, *_ = deployed(Given(kms_key=KEY))[0]
    assert (grant, flip["KmsKeyArn"]) == ({"OtherKmsKeyArns": KEY}, KEY)


def test_every_switch_is_flipped_for_which_the_account_has_what_it_needs() -> None:
    [_, flip, drain, _], _ = deployed(EVERYTHING)
    assert flip == {
        "FlowPolicies": "on",
        "PriorityLanes": "on",
        "Stats": "on",
        "AuthMode": "iam",
        "KmsKeyArn": KEY,
        "VpcSubnetIds": "subnet-1,subnet-2",
        "VpcSecurityGroupIds": "sg-1",
    }
    assert (drain["AuthMode"], drain["JwtIssuer"]) == ("jwt", "https://issuer.example")
    [flip, drain, _], _ = deployed(NOTHING)
    assert set(flip) == {"FlowPolicies", "PriorityLanes", "Stats", "AuthMode"}
    assert drain == {"PriorityLanes": "drain"}


def test_lanes_are_drained_before_they_are_off() -> None:
    made, _ = deployed(NOTHING)
    assert [each["PriorityLanes"] for each in made] == ["on", "drain", "off"]


def test_after_a_deployment_that_fails_its_checks_are_not_shown_and_the_way_back_is_tried() -> None:
    made, results = deployed(NOTHING, failing="on")
    assert [each["PriorityLanes"] for each in made] == ["on", "drain", "off"]
    flip, *skipped = results[: 1 + len(switches.FLIPPED.checks) + len(switches.AGAIN)]
    assert (flip.verdict, flip.note) == ("failed", "RuntimeError: sam deploy failed")
    assert {(each.verdict, each.note) for each in skipped} == {("not shown", "flip failed")}
    assert [each.name for each in results[-2:]] == ["drain", "flip-back"]


def test_a_caller_that_gets_no_admin_key_fails_the_flip_with_the_answer_of_the_function() -> None:
    failing = stage(account(error="no role or user"))
    flip, *_ = switches.switched(failing, lambda _: None, NOTHING, BEFORE)
    assert flip.verdict == "failed"
    assert "role/team/operators" in flip.note
    assert flip.note.endswith("no role or user")


@pytest.mark.parametrize(
    ("caller", "principal"),
    [
        (
            "arn:aws:sts::123456789012:assumed-role/operators/ann",
            "arn:aws:iam::123456789012:role/team/operators",
        ),
        ("arn:aws:iam::123456789012:user/people/ann", "arn:aws:iam::123456789012:user/people/ann"),
    ],
)
def test_the_caller_is_named_to_the_stack_as_iam_names_it(caller: str, principal: str) -> None:
    assert switches._principal(stage(account(caller)))[0] == principal


def test_the_checks_of_the_flipped_stack_have_namespaces_and_queues_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Stage] = []

    def look(_: object, stage: Stage) -> Iterator[Result]:
        seen.append(stage)
        return iter(())

    monkeypatch.setattr(switches, "outcomes", look)
    deployed(NOTHING)
    flipped, _, back = seen
    assert flipped.path("a", "b") == "/v1/namespaces/smoke-flipped-a/jobs/b"
    assert flipped.queues.prefix == "sweephand-smoke-1-flipped"
    assert isinstance(flipped.client, SigningClient)
    assert (back.round, back.queues.prefix) == ("", "sweephand-smoke-1")


@pytest.mark.parametrize(
    "arguments", [["--subnets", "subnet-1"], ["--issuer", "https://issuer.example", "--token", "e.y.J"]]
)
def test_options_that_need_each_other_are_refused_alone(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        command._parse(arguments)


def test_a_call_without_an_answer_has_no_answer_yet() -> None:
    def hang(*_: object) -> None:
        raise ReadTimeoutError(cast("Any", None), "/v1/limits", "Read timed out.")

    client = cast("Any", SimpleNamespace(call=hang))
    assert replace(stage(account()), client=client).answered("/v1/limits") is None
