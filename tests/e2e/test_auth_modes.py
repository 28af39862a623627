"""A stack whose callers IAM or an issuer of tokens knows: who gets in, and what works as it does with keys.

The stack's mode is changed while it runs, as an operator would. The local gateway verifies the signature, the
issuer, the audience and the times of a token. It verifies signatures of AWS, and evaluates policies of IAM.
"""

import hmac
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

import pytest
import urllib3
from botocore.credentials import Credentials
from infra.local.client import Client, SigningClient
from infra.local.places import REGION, STACK_NAME
from tests.e2e.issuer import HOUR_S, KEY_ID, Issuer, encoded
from tests.e2e.parameters import Parameters, changed
from tests.e2e.scene import Scene
from tests.e2e.schedule import Schedule
from tests.fakes.receiver import Answer

from sweephand_client import Client as PackagedClient
from sweephand_client import IamSignature, UnauthenticatedError, eventbridge
from sweephand_client.openapi.requests import HttpTarget
from sweephand_client.profiles import Stack

AUDIENCE: Final = "sweephand"
ADMIN: Final = {"sub": "ann", "https://sweephand.example/ns": "*", "sweephand_role": "admin"}


@pytest.fixture(scope="module")
def parameters(stack: Mapping[str, Any], client: Client) -> Iterator[Parameters]:
    """The parameters of the stack, whose mode is `keys` before and afterwards."""
    client.ask("GET", "/v1/me")
    with changed(stack) as parameters:
        yield parameters
    client.ask("GET", "/v1/me")


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer(AUDIENCE) as issuer:
        yield issuer


@pytest.fixture(scope="module")
def tokens(parameters: Parameters, issuer: Issuer) -> Mapping[str, Any]:
    """The stack, which takes the tokens of the issuer."""
    parameters.set(
        AuthMode="jwt",
        JwtIssuer=issuer.url,
        JwtAudience=f"other,{AUDIENCE}",
        JwtNamespaceClaim="https://sweephand.example/ns",
    )
    return parameters.stack


def functions(parameters: Parameters) -> set[str]:
    """The functions of the stack, by their names in the template."""
    found = parameters.client("cloudformation").describe_stack_resources(StackName=STACK_NAME)
    kinds = [each for each in found["StackResources"] if each["ResourceType"] == "AWS::Lambda::Function"]
    return {each["LogicalResourceId"].removesuffix("Function") for each in kinds}


def reports_with_its_token(schedule: Schedule, scene: Scene) -> None:
    """A consumer accepts a trigger, and reports its result with nothing but the token of the run."""
    scene.receiver.answer("/async", Answer(202))
    schedule.put("async", dueTime="1s", completion="async", target=scene.target("async"))
    [delivery] = scene.receiver.wait("/async", 1, within_s=90)
    consumer, path = schedule.consumer_of(delivery)
    stranger = Client(consumer.api_url, f"shr_{'x' * 43}")
    assert stranger.call("POST", f"{path}/complete").status == 410, "no attempt has this token"
    assert consumer.call("GET", path).status in (401, 403), "the token is for callbacks alone"
    consumer.ask("POST", f"{path}/heartbeat")
    consumer.ask("POST", f"{path}/complete", {"result": 7})
    assert schedule.state_of("async", "succeeded")["result"] == 7


def is_open(api_url: str) -> bool:
    """Whether the open calls are answered without any credentials."""
    paths = ("/v1/health", "/v1/openapi.json", "/docs", "/console", "/v1/namespaces/ns/signing-keys")
    answers = [urllib3.request("GET", f"{api_url}{path}", timeout=30, retries=False) for path in paths]
    return [each.status for each in answers] == [200] * len(paths)


def test_a_stack_for_tokens_does_all_that_one_with_keys_does(
    parameters: Parameters, tokens: Mapping[str, Any], issuer: Issuer, namespace: str
) -> None:
    url = tokens["apiUrl"]
    assert functions(parameters) == {"Api", "Tick", "Sweep", "Deliver", "Flow", "Lists", "Resources"}
    assert is_open(url)
    described = urllib3.request("GET", f"{url}/v1/openapi.json", timeout=30, retries=False).json()
    assert described["components"]["securitySchemes"]["token"]["bearerFormat"] == "JWT"
    with Client(url, issuer.token(**ADMIN)) as admin, Scene.of(admin, namespace) as scene:
        assert admin.ask("GET", "/v1/me")["id"] == "jwt:ann"
        claims = {"sub": "bob", "https://sweephand.example/ns": namespace, "sweephand_role": "write"}
        writer = Schedule(Client(url, issuer.token(**claims, aud=["elsewhere", AUDIENCE])), namespace)
        writer.put("signed", dueTime="1s", target=scene.target("signed"))
        scene.receiver.wait("/signed", 1, within_s=90)
        [change] = writer.client.ask("GET", f"{writer.path('signed')}/changes")["items"]
        assert change["who"] == "jwt:bob"
        reports_with_its_token(writer, scene)
        assert writer.client.call("GET", "/v1/keys").status == 403
        assert writer.client.call("GET", f"/v1/namespaces/{namespace}-b/jobs").status == 404


def test_the_client_takes_a_token(tokens: Mapping[str, Any], issuer: Issuer) -> None:
    with PackagedClient(tokens["apiUrl"], issuer.token(**ADMIN)) as client:
        assert client.me()["id"] == "jwt:ann"
    with PackagedClient(tokens["apiUrl"], "sh_admin_x") as client, pytest.raises(UnauthenticatedError):
        client.me()


def test_a_token_without_the_claims_is_refused_by_the_name_of_the_claim(
    tokens: Mapping[str, Any], issuer: Issuer
) -> None:
    for other, claim in (
        ({"https://sweephand.example/ns": None}, "https://sweephand.example/ns"),
        ({"https://sweephand.example/ns": ["*"]}, "https://sweephand.example/ns"),
        ({"sweephand_role": "owner"}, "sweephand_role"),
        ({"sweephand_role": ["admin"]}, "sweephand_role"),
        ({"sub": None}, "sub"),
        ({"exp": None}, "exp"),  # the local gateway takes a token without an end
    ):
        refused = Client(tokens["apiUrl"], issuer.token(**{**ADMIN, **other})).call("GET", "/v1/limits")
        assert refused.status == 403, claim
        assert f"claim {claim}" in refused.body["detail"]


def forged(issuer: Issuer) -> Iterator[tuple[str, str]]:
    """What is not a token of the issuer for this stack, and why."""
    good = issuer.token(**ADMIN)
    header, claims, signature = good.split(".")
    everything = encoded(json.dumps(issuer.claims(**ADMIN, admin=True)).encode())
    yield "no token", ""
    yield "an API key", "sh_admin_secret"
    yield "a run's token on another route", f"shr_{'x' * 43}"
    yield "other claims", f"{header}.{everything}.{signature}"
    yield "no signature", f"{header}.{claims}."
    unsigned = encoded(json.dumps({"alg": "none", "kid": KEY_ID}).encode())
    yield "the algorithm none", f"{unsigned}.{claims}."
    confused = f"{encoded(json.dumps({'alg': 'HS256', 'kid': KEY_ID}).encode())}.{claims}"
    by_public_key = hmac.digest(issuer.keys["keys"][0]["n"].encode(), confused.encode(), sha256)
    yield "the public key as a secret", f"{confused}.{encoded(by_public_key)}"
    yield "an unknown key", issuer.signed(issuer.claims(**ADMIN), {"kid": "key-2"})
    now = issuer.claims()["iat"]
    yield "an end that is past", issuer.token(**ADMIN, exp=now - HOUR_S)
    yield "a beginning that is ahead", issuer.token(**ADMIN, nbf=now + HOUR_S)
    yield "another audience", issuer.token(**ADMIN, aud="elsewhere")
    yield "no audience", issuer.token(**ADMIN, aud=None)
    yield "another issuer", issuer.token(**ADMIN, iss="https://issuer.example")
    with Issuer(AUDIENCE) as other:
        yield "the key of another issuer", other.token(**ADMIN, iss=issuer.url)
        yield "another issuer that is there", other.token(**ADMIN)


def test_nothing_but_a_valid_token_for_this_stack_gets_in(tokens: Mapping[str, Any], issuer: Issuer) -> None:
    with Client(tokens["apiUrl"], issuer.token(**ADMIN)) as good:
        assert good.call("GET", "/v1/limits").status == 200
    let_in = [
        reason
        for reason, token in forged(issuer)
        for method, path in (("GET", "/v1/limits"), ("POST", "/v1/namespaces/ns/jobs/a/runs/1-0/cancel"))
        if Client(tokens["apiUrl"], token).call(method, path).status != 401
    ]
    assert let_in == []
    callback = Client(tokens["apiUrl"], issuer.token(**ADMIN)).call(
        "POST", "/v1/namespaces/ns/jobs/a/runs/1-0/complete"
    )
    assert (callback.status, "shr_" in callback.body["detail"]) == (401, True)


@pytest.fixture(scope="module")
def signed(parameters: Parameters, client: Client) -> Iterator[Mapping[str, SigningClient]]:
    """The stack in the mode `iam`, and callers: an admin, the session of a role, and others."""
    iam, sts = parameters.client("iam"), parameters.client("sts")
    url = parameters.stack["apiUrl"]
    allowed = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    users = {}
    for name in ("ann", "nobody", "unallowed"):
        iam.create_user(UserName=name, Path="/people/")
        made = iam.create_access_key(UserName=name)["AccessKey"]
        users[name] = Credentials(made["AccessKeyId"], made["SecretAccessKey"])
        if name != "unallowed":
            iam.put_user_policy(UserName=name, PolicyName="call", PolicyDocument=policy)
    trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    role = iam.create_role(
        RoleName="billing",
        Path="/services/",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )["Role"]["Arn"]
    iam.put_role_policy(RoleName="billing", PolicyName="call", PolicyDocument=policy)
    session = sts.assume_role(RoleArn=role, RoleSessionName="one")["Credentials"]
    users["session"] = Credentials(
        session["AccessKeyId"], session["SecretAccessKey"], session["SessionToken"]
    )
    user = iam.get_user(UserName="ann")["User"]["Arn"]
    parameters.set(AuthMode="keys")
    client.ask("POST", "/v1/keys", {"namespace": "*", "role": "admin", "principal": user})
    parameters.set(AuthMode="iam")
    users["forger"] = Credentials(users["ann"].access_key, "x" * 40)
    callers = {name: SigningClient(url, each, REGION) for name, each in users.items()}
    made = callers["ann"].call("POST", "/v1/keys", {"namespace": "bills", "role": "write", "principal": role})
    assert made.status == 201
    yield callers
    for key in callers["ann"].call("GET", "/v1/keys").body["items"]:
        if key["principal"] is not None:
            callers["ann"].call("DELETE", f"/v1/keys/{key['id']}")


def test_a_stack_for_iam_knows_users_and_roles_by_their_keys(
    parameters: Parameters, signed: Mapping[str, SigningClient]
) -> None:
    assert functions(parameters) == {
        "Api",
        "AdminKey",
        "Tick",
        "Sweep",
        "Deliver",
        "Flow",
        "Lists",
        "Resources",
    }
    assert is_open(parameters.stack["apiUrl"])
    me = signed["session"].call("GET", "/v1/me").body
    assert (me["namespace"], me["role"]) == ("bills", "write")
    assert signed["session"].call("GET", "/v1/namespaces/bills/jobs").status == 200
    assert signed["session"].call("GET", "/v1/namespaces/other/jobs").status == 404
    assert signed["session"].call("GET", "/v1/keys").status == 403
    refused = signed["nobody"].call("GET", "/v1/limits")
    assert refused.status == 403
    assert "user/nobody" in refused.body["detail"]


@pytest.mark.parametrize("caller", ["ann", "session"])
def test_the_client_signs_each_request_for_a_stack_for_iam(
    parameters: Parameters, signed: Mapping[str, SigningClient], caller: str
) -> None:
    signature = IamSignature(REGION, signed[caller].credentials)
    labels = {"team": "r&d + ops"}
    with PackagedClient(parameters.stack["apiUrl"], signature) as client:
        target: HttpTarget = {"type": "http", "url": "https://example.com"}
        client.jobs.put("bills", "a:b@c+d", {"target": target, "labels": labels})
        assert [each["name"] for each in client.jobs.list("bills", labels=labels)] == ["a:b@c+d"]
        client.jobs.delete("bills", "a:b@c+d")


@pytest.mark.parametrize("caller", ["ann", "session"])
def test_the_client_of_eventbridge_signs_for_a_stack_for_iam(
    parameters: Parameters, signed: Mapping[str, SigningClient], caller: str
) -> None:
    credentials = signed[caller].credentials
    scheduler = eventbridge.client(
        Stack(parameters.stack["apiUrl"], "the test", auth="iam", region=REGION),
        aws_access_key_id=credentials.access_key,
        aws_secret_access_key=credentials.secret_key,
        aws_session_token=credentials.token,
    )
    scheduler.create_schedule_group(Name="bills", Tags=[{"Key": "team", "Value": "r&d + ops"}])
    scheduler.create_schedule(
        Name="a.b_c",
        GroupName="bills",
        ScheduleExpression="cron(0 9 * * ? *)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": "https://example.com/hook", "RoleArn": "arn:aws:iam::123456789012:role/any"},
    )
    found = [each["Arn"] for each in scheduler.list_schedules(GroupName="bills")["Schedules"]]
    assert [each.rpartition(":")[2] for each in found] == ["schedule/bills/a.b_c"]
    arn = scheduler.get_schedule_group(Name="bills")["Arn"]
    assert scheduler.list_tags_for_resource(ResourceArn=arn)["Tags"][0]["Value"] == "r&d + ops"
    scheduler.delete_schedule_group(Name="bills")


def test_a_stack_for_iam_lets_nobody_in_whom_iam_does_not(
    parameters: Parameters, signed: Mapping[str, SigningClient], client: Client
) -> None:
    answer = signed["unallowed"].call("GET", "/v1/limits")
    assert (answer.status, "detail" in answer.body) == (403, False), "the gateway itself refuses"
    assert signed["forger"].call("GET", "/v1/limits").status == 403
    assert client.call("GET", "/v1/limits").status in (401, 403), "a key"
    unsigned = urllib3.request("GET", f"{parameters.stack['apiUrl']}/v1/limits", timeout=30, retries=False)
    assert unsigned.status == 403


def test_an_operator_names_the_first_admin_of_a_stack_for_iam_by_its_function(
    parameters: Parameters, signed: Mapping[str, SigningClient]
) -> None:
    assert signed["nobody"].call("GET", "/v1/keys").status == 403
    user = parameters.client("iam").get_user(UserName="nobody")["User"]["Arn"]
    [found] = parameters.client("cloudformation").describe_stacks(StackName=STACK_NAME)["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in found["Outputs"]}
    said = parameters.client("lambda").invoke(
        FunctionName=outputs["AdminKeyFunctionName"],
        Qualifier="live",
        Payload=json.dumps({"principal": user}).encode(),
    )
    made = json.loads(said["Payload"].read())
    assert {"namespace": "*", "role": "admin"}.items() <= made.items()
    assert "key" not in made
    assert signed["nobody"].call("GET", "/v1/keys").status == 200


def test_a_consumer_reports_with_the_token_of_its_run_on_a_stack_for_iam(
    signed: Mapping[str, SigningClient], namespace: str
) -> None:
    with Scene.of(signed["ann"], namespace) as scene:
        reports_with_its_token(scene.schedule, scene)
