"""SNS, EventBridge and Step Functions by moto, and a Lambda that keeps what it is given."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from sweephand.delivery.adapter import AwsClients, Service

_PASSES: Final = json.dumps({"StartAt": "a", "States": {"a": {"Type": "Pass", "End": True}}})


class Lambda:
    """A client of Lambda. Functions whose name ends in `-gone` do not exist.

    moto has no functions without Docker. `answer` returns what a function answers to an event.
    """

    def __init__(self, answer: Callable[[Any], Any] = lambda event: event) -> None:
        self._answer = answer
        self.events: list[Any] = []

    def invoke(self, **request: Any) -> dict[str, Any]:
        """As boto3's Lambda client."""
        if request["FunctionName"].endswith("-gone"):
            raise aws_error("ResourceNotFoundException", "Invoke")
        event = json.loads(request["Payload"])
        self.events.append(event)
        if request["InvocationType"] == "Event":
            return {"StatusCode": 202, "Payload": BytesIO()}
        try:
            answer = self._answer(event)
        except RuntimeError as error:
            raised = {"errorType": "RuntimeError", "errorMessage": str(error), "stackTrace": []}
            body = BytesIO(json.dumps(raised).encode())
            return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": body}
        return {"StatusCode": 200, "Payload": BytesIO(json.dumps(answer).encode())}


class Aws:
    """The resources of an account, and the clients that deliver to them. `asked` has each client made."""

    def __init__(self, functions: Lambda | None = None) -> None:
        self.functions = functions or Lambda()
        self.asked: list[Service] = []
        self.clients = AwsClients(self._client)

    def _client(self, service: Service) -> Any:
        self.asked.append(service)
        if service.name == "lambda":
            return self.functions
        make: Any = boto3.client
        return make(service.name, region_name=service.region)

    def topic(self, name: str) -> str:
        """The ARN of a new topic. It is a FIFO topic if its name ends in `.fifo`."""
        attributes = {"FifoTopic": "true"} if name.endswith(".fifo") else {}
        arn: str = _made("sns").create_topic(Name=name, Attributes=attributes)["TopicArn"]
        return arn

    def subscribe(self, topic: str, queue_arn: str) -> None:
        """Have a topic send its messages to a queue as they are."""
        _made("sns").subscribe(
            TopicArn=topic, Protocol="sqs", Endpoint=queue_arn, Attributes={"RawMessageDelivery": "true"}
        )

    def bus(self, name: str, queue_arn: str | None = None) -> str:
        """The ARN of a new bus, which sends all of its events to that queue."""
        events = _made("events")
        arn: str = events.create_event_bus(Name=name)["EventBusArn"]
        if queue_arn is not None:
            account = arn.split(":")[4]
            pattern = json.dumps({"account": [account]})
            events.put_rule(Name="all", EventBusName=name, EventPattern=pattern)
            target: Any = {"Id": "queue", "Arn": queue_arn}
            events.put_targets(Rule="all", EventBusName=name, Targets=[target])
        return arn

    def state_machine(self, name: str) -> str:
        """The ARN of a new state machine that does nothing."""
        role = _made("iam").create_role(RoleName="states", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        machine = _made("stepfunctions").create_state_machine(name=name, definition=_PASSES, roleArn=role)
        return str(machine["stateMachineArn"])

    def executions(self, state_machine: str) -> dict[str, Any]:
        """The inputs of the executions of a state machine, by their names."""
        client = _made("stepfunctions")
        found = client.list_executions(stateMachineArn=state_machine)["executions"]
        described = [client.describe_execution(executionArn=each["executionArn"]) for each in found]
        return {each["name"]: json.loads(each["input"]) for each in described}


def aws_error(code: str, operation: str) -> ClientError:
    """The error that boto3 raises if AWS answers with that code."""
    return ClientError({"Error": {"Code": code, "Message": "because"}}, operation)


def _made(service: str) -> Any:
    make: Any = boto3.client
    return make(service)
