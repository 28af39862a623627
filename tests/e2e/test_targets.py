"""The deployed template delivers to functions, topics, buses and state machines."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from infra.local.deploy import outputs, session
from tests.e2e.parameters import place_of
from tests.e2e.schedule import Schedule, eventually
from tests.e2e.test_delivery import queue_reader

from sweephand_client import eventbridge
from sweephand_client.profiles import Stack

#: A function that passes its event on, and answers.
PASSES_ON: Final = """
import os
import boto3
import json

def handler(event, context):
    if event["data"] == "fail":
        raise ValueError("told to fail")
    boto3.client("sqs").send_message(QueueUrl=os.environ["QUEUE_URL"], MessageBody=json.dumps(event))
    return {"taken": event["data"]}
"""

ASSUMABLE: Final = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}],
    }
)
ANYTHING: Final = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
)


@dataclass
class Cloud:
    """The account of the stack, with a queue that shows what resources received."""

    stack: Mapping[str, Any]
    name: str

    def __post_init__(self) -> None:
        sqs = self.client("sqs")
        self.url = sqs.create_queue(QueueName=self.name)["QueueUrl"]
        attributes = sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"]
        self.queue_arn = attributes["QueueArn"]
        statement = {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "sqs:SendMessage",
            "Resource": self.queue_arn,
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        sqs.set_queue_attributes(QueueUrl=self.url, Attributes={"Policy": policy})

    def client(self, service: str) -> Any:
        make: Any = session().client
        return make(service, endpoint_url=self.stack["awsEndpointUrl"])

    def received(self) -> Any:
        """The next message in the queue."""
        return eventually(queue_reader(self.stack, self.url), lambda _: True)

    def role(self) -> str:
        """A role that anybody may assume, and that may do anything."""
        iam = self.client("iam")
        arn: str = iam.create_role(RoleName=self.name, AssumeRolePolicyDocument=ASSUMABLE)["Role"]["Arn"]
        iam.put_role_policy(RoleName=self.name, PolicyName="all", PolicyDocument=ANYTHING)
        return arn

    def function(
        self,
        handler: str = "passes_on.handler",
        files: Mapping[str, bytes] = {"passes_on.py": PASSES_ON.encode()},
        variables: Mapping[str, str] | None = None,
    ) -> str:
        """The ARN of a new function."""
        code = io.BytesIO()
        with zipfile.ZipFile(code, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        made = self.client("lambda").create_function(
            FunctionName=self.name,
            Runtime="python3.13",
            Role=self.role(),
            Handler=handler,
            Code={"ZipFile": code.getvalue()},
            Environment={"Variables": variables or {"QUEUE_URL": self.url}},
            Timeout=20,
        )
        return str(made["FunctionArn"])


@pytest.fixture
def cloud(stack: Mapping[str, Any], namespace: str) -> Cloud:
    return Cloud(stack, f"my-{namespace}")


def test_a_function_is_invoked_and_its_answer_decides_if_it_is_waited_for(
    schedule: Schedule, cloud: Cloud
) -> None:
    target = {"type": "lambda", "functionArn": cloud.function()}
    schedule.put("async", dueTime="1s", target=target, data={"n": 1})
    event = json.loads(cloud.received()["Body"])
    assert (event["data"], event["sweephand"]["job"]) == ({"n": 1}, "async")
    schedule.put("sync", dueTime="1s", target=target | {"invocation": "sync"}, data={"n": 2})
    runs = eventually(lambda: [schedule.runs("sync")], bool)
    assert (runs[0]["state"], runs[0]["answer"]) == ("succeeded", '{"taken": {"n": 2}}')
    failing = target | {"invocation": "sync"}
    schedule.put("failing", dueTime="1s", target=failing, data="fail", retry={"maxAttempts": 1})
    runs = eventually(lambda: [schedule.runs("failing")], bool)
    assert runs[0]["state"] == "failed"
    assert "The function failed: " in runs[0]["reason"]
    assert "told to fail" in runs[0]["reason"]


def test_a_schedule_by_eventbridges_client_hands_a_function_its_input(
    schedule: Schedule, cloud: Cloud
) -> None:
    api, namespace = schedule.client, schedule.namespace
    scheduler = eventbridge.client(Stack(api.api_url, "the test", key=api.api_key))
    scheduler.create_schedule_group(Name=namespace)
    scheduler.create_schedule(
        Name="nightly",
        GroupName=namespace,
        ScheduleExpression="rate(1 minute)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={
            "Arn": cloud.function(),
            "RoleArn": cloud.client("iam").get_role(RoleName=cloud.name)["Role"]["Arn"],
            "Input": '{"data": "<aws.scheduler.attempt-number>"}',
        },
    )
    assert json.loads(cloud.received()["Body"]) == {"data": "1"}
    runs = eventually(lambda: [schedule.runs("nightly")], bool)
    assert runs[0]["state"] == "succeeded"
    scheduler.delete_schedule_group(Name=namespace)
    assert api.call("GET", schedule.path("nightly")).status == 404


def test_a_topic_a_bus_and_a_state_machine_receive_the_trigger(schedule: Schedule, cloud: Cloud) -> None:
    sns, events, states = (cloud.client(each) for each in ("sns", "events", "stepfunctions"))
    topic = sns.create_topic(Name=cloud.name)["TopicArn"]
    raw = {"RawMessageDelivery": "true"}
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=cloud.queue_arn, Attributes=raw)
    schedule.put("topic", dueTime="1s", target={"type": "sns", "topicArn": topic}, data=[1.5])
    assert cloud.received()["Body"] == "[1.5]"

    bus = events.create_event_bus(Name=cloud.name)["EventBusArn"]
    pattern = json.dumps({"source": ["sweephand"]})
    events.put_rule(Name="all", EventBusName=cloud.name, EventPattern=pattern)
    events.put_targets(Rule="all", EventBusName=cloud.name, Targets=[{"Id": "q", "Arn": cloud.queue_arn}])
    schedule.put("bus", dueTime="1s", target={"type": "eventbridge", "busArn": bus}, data="x")
    event = json.loads(cloud.received()["Body"])
    assert (event["detail-type"], event["detail"]["data"]) == ("sweephand.trigger", "x")
    assert event["detail"]["sweephand"]["job"] == "bus"

    definition = json.dumps({"StartAt": "a", "States": {"a": {"Type": "Pass", "End": True}}})
    machine = states.create_state_machine(name=cloud.name, definition=definition, roleArn=cloud.role())
    arn = machine["stateMachineArn"]
    schedule.put("machine", dueTime="1s", target={"type": "stepfunctions", "stateMachineArn": arn}, data=1)
    runs = eventually(lambda: [schedule.runs("machine")], bool)
    assert runs[0]["state"] == "succeeded"
    (execution,) = states.list_executions(stateMachineArn=arn)["executions"]
    described = states.describe_execution(executionArn=execution["executionArn"])
    assert json.loads(described["input"])["data"] == 1
    assert json.loads(described["input"])["sweephand"]["id"] == execution["name"]


def test_a_queue_is_reached_through_a_role(schedule: Schedule, cloud: Cloud) -> None:
    target = {"type": "sqs", "queueUrl": cloud.url, "roleArn": cloud.role()}
    schedule.put("role", dueTime="1s", target=target, data="by role")
    assert cloud.received()["Body"] == '"by role"'


@pytest.mark.parametrize(
    ("kind", "field", "arn"),
    [
        ("lambda", "functionArn", "arn:aws:lambda:us-east-1:000000000000:function:my-missing"),
        ("sns", "topicArn", "arn:aws:sns:us-east-1:000000000000:my-missing"),
        ("stepfunctions", "stateMachineArn", "arn:aws:states:us-east-1:000000000000:stateMachine:my-missing"),
    ],
)
def test_a_missing_resource_fails_at_once_and_the_run_says_so(
    schedule: Schedule, kind: str, field: str, arn: str
) -> None:
    schedule.put("missing", dueTime="1s", target={"type": kind, field: arn})
    runs = eventually(lambda: [schedule.runs("missing")], bool)
    assert (runs[0]["state"], runs[0]["attempts"]) == ("failed", 1)
    assert f"There is no {arn}: create it" in runs[0]["reason"]


def test_the_stack_says_what_it_does_not_list(schedule: Schedule) -> None:
    arn = "arn:aws:lambda:us-east-1:000000000000:function:orders"
    answer = schedule.client.call(
        "PUT", schedule.path("own"), {"dueTime": "1s", "target": {"type": "lambda", "functionArn": arn}}
    )
    assert answer.status == 422
    assert "TargetFunctionArns" in answer.body["errors"][0]["detail"]


def test_a_role_that_may_do_everything_reaches_nothing_of_the_stack_itself(
    schedule: Schedule, cloud: Cloud
) -> None:
    role, told = cloud.role(), outputs(place_of(cloud.stack))
    name = told["AdminKeyFunctionName"]
    arns = [f"arn:aws:lambda:us-east-1:000000000000:function:{name}{each}" for each in ("", ":live", ":1")]
    queues = [told[each].rpartition("/")[2] for each in ("DeliveryQueueUrl", "FlowQueueUrl")]
    urls = [f"{host}/{each}" for each in queues for host in ("http://localhost:1/queue", "https://x.example")]
    targets: list[dict[str, Any]] = [
        *({"target": {"type": "lambda", "functionArn": each, "roleArn": role}} for each in arns),
        *({"target": {"type": "sqs", "queueUrl": each, "roleArn": role}} for each in urls),
        *({"deadLetterQueue": each} for each in urls),
    ]
    for fields in targets:
        answer = schedule.client.call("PUT", schedule.path("own"), {"dueTime": "1s", **fields})
        assert answer.status == 422, fields
        assert "this one is the stack's own" in answer.body["errors"][0]["detail"]
