"""Deploys the stack once more with its switches flipped, and back, and checks each state."""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from botocore.credentials import Credentials, ReadOnlyCredentials
from infra.local.client import Client, SigningClient
from infra.smoke.checks import Check, NotShownError, Result, Suite, expect, outcomes
from infra.smoke.failing import FAILING
from infra.smoke.rights import RIGHTS
from infra.smoke.stage import Given, Stage, eventually

#: Deploys the stack again with these parameters. All others keep their values.
Deploy = Callable[[Mapping[str, str]], None]

_REFUSED: Final = (401, 403)

#: The checks that run again after the flip: those whose rights and networks a switch changes.
AGAIN: Final = [
    *RIGHTS.named("queue-target", "http-target", "large-payload", "pause-resume-delete"),
    *FAILING.named("dead-letter-of-the-job", "taking-turns", "asynchronous-completion"),
]

FLIPPED = Suite()
TOKENS = Suite()
BACK = Suite()


def flipped(given: Given) -> dict[str, str]:
    """The parameters of the stack with its switches flipped."""
    network = {"VpcSubnetIds": given.subnets, "VpcSecurityGroupIds": given.security_groups}
    return {
        "FlowPolicies": "on",
        "PriorityLanes": "on",
        "Stats": "on",
        "AuthMode": "iam",
        **({"KmsKeyArn": given.kms_key} if given.kms_key else {}),
        **(network if given.subnets else {}),
    }


def drained(given: Given) -> dict[str, str]:
    """The parameters on the way back: lanes are drained before they are off. Callers then have tokens."""
    tokens = {"AuthMode": "jwt", "JwtIssuer": given.issuer, "JwtAudience": given.audience}
    return {"PriorityLanes": "drain", **(tokens if given.issuer else {})}


def back(before: Mapping[str, str], given: Given) -> dict[str, str]:
    """The values that these parameters had before. `before` has those of all parameters.

    The functions stay in their network until the stack is deleted. CloudFormation then waits until Lambda has
    removed the interfaces with the rights of the role.
    """
    changed = flipped(given).keys() | drained(given).keys()
    return {name: before[name] for name in sorted(changed) if not name.startswith("Vpc")}


def switched(stage: Stage, deploy: Deploy, given: Given, before: Mapping[str, str]) -> Iterator[Result]:
    """The results of each deployment and of the checks after it.

    If a deployment fails, the checks of that state are not shown. The way back is tried in each case. The
    functions may use the KMS key before it encrypts anything, and afterwards.
    """
    switches = replace(stage, given=given, round="flipped-", queues=stage.queues.of_round("flipped"))
    again = () if stage.is_local else AGAIN
    if given.kms_key:
        yield from _state("grant", {"OtherKmsKeyArns": given.kms_key}, [], deploy, lambda: stage)
    yield from _state(
        "flip", flipped(given), [*FLIPPED.checks, *again], deploy, lambda: _as_principal(switches)
    )
    yield from _state("drain", drained(given), TOKENS.checks, deploy, lambda: _with_token(switches))
    yield from _state("flip-back", back(before, given), BACK.checks, deploy, lambda: stage)


def _state(
    name: str,
    parameters: Mapping[str, str],
    checks: Iterable[Check],
    deploy: Deploy,
    enter: Callable[[], Stage],
) -> Iterator[Result]:
    shown = ", ".join(f"{each}={value}" for each, value in parameters.items())
    sentence = f"The stack deploys with {shown}."
    began = time.monotonic()
    try:
        deploy(parameters)
        stage = enter()
    except Exception as error:  # noqa: BLE001 - any error that stops a deployment is its result
        yield Result(name, sentence, "failed", f"{type(error).__name__}: {error}", time.monotonic() - began)
        for check in checks:
            yield Result(check.name, check.sentence, "not shown", f"{name} failed", 0.0)
        return
    yield Result(name, sentence, "passed", "", time.monotonic() - began)
    yield from outcomes(checks, stage)


def _as_principal(stage: Stage) -> Stage:
    """The stage whose client signs, as a principal that the stack's function has made an admin."""
    principal, credentials = _principal(stage)
    stage.aws.invoke(stage.outputs["AdminKeyFunctionName"], {"principal": principal})
    return replace(stage, client=SigningClient(stage.client.api_url, credentials, stage.aws.region))


def _principal(stage: Stage) -> tuple[str, Credentials | ReadOnlyCredentials]:
    """The ARN of the user or role that calls, and its credentials."""
    iam = stage.aws.client("iam")
    if stage.is_local:
        # The local AWS knows its own caller as no user.
        user = iam.create_user(UserName="smoke")["User"]["Arn"]
        allowed = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
        iam.put_user_policy(UserName="smoke", PolicyName="call", PolicyDocument=policy)
        made = iam.create_access_key(UserName="smoke")["AccessKey"]
        return user, Credentials(made["AccessKeyId"], made["SecretAccessKey"])
    arn = str(stage.aws.client("sts").get_caller_identity()["Arn"])
    session = re.fullmatch(r"arn:[a-z-]+:sts::\d+:assumed-role/([^/]+)/.+", arn)
    if session is not None:
        arn = iam.get_role(RoleName=session[1])["Role"]["Arn"]
    credentials = stage.aws.session.get_credentials()
    assert credentials is not None, "the caller's identity was just read with them"
    return arn, credentials.get_frozen_credentials()


def _with_token(stage: Stage) -> Stage:
    return replace(stage, client=Client(stage.client.api_url, stage.given.token))


@FLIPPED.add("With AuthMode=iam, a caller is known by its signature, and a call without one is refused.")
def signatures(stage: Stage) -> str:
    """The gateway's authorization by IAM, and the admin key of a principal."""
    me = eventually(lambda: stage.answered("/v1/me"), "an answer to the signed caller", 120)
    bare = Client(stage.client.api_url, "sh_nobody_nothing").call("GET", "/v1/limits").status
    expect(me["role"] == "admin" and bare in _REFUSED, f"{me}; without a signature {bare}")
    return f"{me['id']}; without a signature {bare}"


@FLIPPED.add("With FlowPolicies=on, a job under a policy is delivered.")
def policy(stage: Stage) -> str:
    """The flow function with its queue, and the delivery function that writes the line."""
    queue, path = stage.queues.make("policy"), f"/v1/namespaces/smoke-{stage.round}policy/policies/one"
    stage.client.ask("PUT", path, {"maxConcurrent": 1})
    job = stage.put("policy", dueTime="1s", policy="one", target=queue.target)
    message = queue.one(120)
    stage.client.call("DELETE", job)
    stage.client.call("DELETE", path)
    return message.lateness


@FLIPPED.add("With PriorityLanes=on, a job of each priority is delivered.")
def lanes(stage: Stage) -> str:
    """The queues and functions of the lanes."""
    queue, priorities = stage.queues.make("lanes"), ("high", "normal", "low")
    for each in priorities:
        stage.put("lanes", each, dueTime="1s", priority=each, target=queue.target)
    came = {each.names["job"] for each in queue.take(len(priorities), 120)}
    expect(came == set(priorities), f"{sorted(came)} came")
    return ", ".join(priorities)


@FLIPPED.add("With Stats=on, deliveries are counted.")
def counts(stage: Stage) -> str:
    """The right of the delivery function to the partitions of counts."""
    queue, namespace = stage.queues.make("stats"), f"smoke-{stage.round}stats"
    stage.put("stats", dueTime="1s", target=queue.target)
    queue.one(120)

    def read() -> int | None:
        steps = stage.client.ask("GET", f"/v1/namespaces/{namespace}/stats")["steps"]
        return sum(each["succeeded"] for each in steps) or None

    return f"{eventually(read, 'a count of the delivery', 120)} succeeded"


@FLIPPED.add(
    "With KmsKeyArn, both tables, the bucket and the queues are encrypted with that key.",
    not_local="a local AWS encrypts nothing",
)
def encryption(stage: Stage) -> str:
    """What CloudFormation has made of the parameter. Deliveries show that the roles may use the key."""
    key = stage.given.kms_key
    if not key:
        raise NotShownError("no key could be made, and --kms-key names none")
    dynamodb, sqs = stage.aws.client("dynamodb"), stage.aws.client("sqs")
    found: dict[str, str] = {}
    for table in (stage.outputs["JobsTableName"], stage.outputs["TimersTableName"]):
        described = dynamodb.describe_table(TableName=table)["Table"]
        found[table] = described["SSEDescription"]["KMSMasterKeyArn"]
    bucket = stage.outputs["PayloadBucketName"]
    rules = stage.aws.client("s3").get_bucket_encryption(Bucket=bucket)
    [rule] = rules["ServerSideEncryptionConfiguration"]["Rules"]
    found[bucket] = rule["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"]
    for url in (stage.outputs["DeliveryQueueUrl"], stage.outputs["DeadLetterQueueUrl"]):
        answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["KmsMasterKeyId"])
        found[url] = answer["Attributes"]["KmsMasterKeyId"]
    expect(set(found.values()) == {key}, f"{found}")
    return f"{len(found)} with {key}"


@FLIPPED.add("With VpcSubnetIds, deliveries run in these subnets.", not_local="a local AWS has no network")
def network(stage: Stage) -> str:
    """What CloudFormation has made of the parameter. Deliveries show the ways out of the subnets."""
    if not stage.given.subnets:
        raise NotShownError("give --subnets and --security-groups to show it")
    client, asked = stage.aws.client("lambda"), set(stage.given.subnets.split(","))
    for each in ("Deliver", "Flow"):
        name = stage.outputs[f"{each}FunctionName"]
        found = client.get_function_configuration(FunctionName=name, Qualifier="live")
        expect(set(found["VpcConfig"]["SubnetIds"]) == asked, f"{name}: {found['VpcConfig']}")
    return ", ".join(sorted(asked))


@TOKENS.add(
    "With AuthMode=jwt, a token of the issuer gets in, and a made-up one does not.",
    not_local="tests/e2e/test_auth_modes.py shows it on a local AWS with an issuer of its own",
)
def tokens(stage: Stage) -> str:
    """The gateway's verification of tokens, and the claims that the API reads."""
    if not stage.given.issuer:
        raise NotShownError("give --issuer, --audience and --token to show it")
    me = eventually(lambda: stage.answered("/v1/me"), "an answer to the token", 120)
    made_up = Client(stage.client.api_url, "eyJhbGciOiJub25lIn0.e30.").call("GET", "/v1/limits").status
    expect(me["id"].startswith("jwt:") and made_up in _REFUSED, f"{me}; a made-up token {made_up}")
    return f"{me['id']}; a made-up token {made_up}"


@BACK.add("With its former parameters, the stack opens to its key again, and delivers.")
def former_state(stage: Stage) -> str:
    """Data that was written while the switches were flipped is still readable."""
    eventually(lambda: stage.answered("/v1/limits"), "an answer to the admin key", 120)
    queue = stage.queues.make("back")
    stage.put("back", dueTime="1s", target=queue.target)
    message = queue.one(120)
    jobs = stage.client.ask("GET", "/v1/namespaces/smoke-flipped-lanes/jobs")["items"]
    expect(len(jobs) == 3, f"{len(jobs)} of 3 jobs of the flipped stack are there")  # noqa: PLR2004 - as many as lanes
    return message.lateness
