"""Templates of CloudFormation declare jobs, policies and calendars of a deployed stack."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from infra.local.deploy import session
from infra.local.places import STACK_NAME
from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually


@dataclass
class Application:
    """A stack of somebody else, which imports the service token of the deployed stack."""

    name: str
    cloudformation: Any
    token: Any = field(default_factory=lambda: {"Fn::ImportValue": f"{STACK_NAME}-ServiceToken"})

    def deploy(self, **resources: tuple[str, Mapping[str, Any]]) -> str:
        """Create or update the stack with these resources; return its last status."""
        template = {
            "Resources": {
                name: {
                    "Type": f"Custom::Sweephand{kind}",
                    "Properties": {"ServiceToken": self.token, **properties},
                }
                for name, (kind, properties) in resources.items()
            },
            "Outputs": {
                "Ref": {"Value": {"Ref": next(iter(resources))}},
                "Name": {"Value": {"Fn::GetAtt": [next(iter(resources)), "name"]}},
            },
        }
        act = self.cloudformation.update_stack if self.status() else self.cloudformation.create_stack
        act(StackName=self.name, TemplateBody=json.dumps(template))
        return self.ended()

    def delete(self) -> None:
        self.cloudformation.delete_stack(StackName=self.name)
        assert self.ended() in ("", "DELETE_COMPLETE")

    def ended(self) -> str:
        """The status when the stack does not change any more."""
        status: str = eventually(lambda: [self.status()], lambda each: not each.endswith("IN_PROGRESS"))
        return status

    def status(self) -> str:
        """The status of the stack; empty without it."""
        try:
            [found] = self.cloudformation.describe_stacks(StackName=self.name)["Stacks"]
        except self.cloudformation.exceptions.ClientError:
            return ""
        return str(found["StackStatus"])

    def outputs(self) -> dict[str, str]:
        [found] = self.cloudformation.describe_stacks(StackName=self.name)["Stacks"]
        return {each["OutputKey"]: each["OutputValue"] for each in found["Outputs"]}

    def reasons(self) -> list[str]:
        """Why resources of the stack failed."""
        events = self.cloudformation.describe_stack_events(StackName=self.name)["StackEvents"]
        return [each.get("ResourceStatusReason", "") for each in events if "FAILED" in each["ResourceStatus"]]


@pytest.fixture
def application(stack: Mapping[str, Any], namespace: str) -> Iterator[Application]:
    client: Any = session().client("cloudformation", endpoint_url=stack["awsEndpointUrl"])
    application = Application(f"application-{namespace}", client)
    yield application
    application.delete()


def test_a_template_creates_changes_renames_and_deletes_what_it_declares(
    application: Application, scene: Scene
) -> None:
    client, namespace = scene.schedule.client, scene.schedule.namespace
    of = {"namespace": namespace}
    works = ("Calendar", {**of, "name": "works", "weekend": []})
    mailer = ("Policy", {**of, "name": "mailer", "maxConcurrent": 5})
    job = {
        **of,
        "name": "hello",
        "dueTime": "1s",
        "target": scene.target("hello"),
        "dataJson": '{"count": 5}',
        "retry": {"maxAttempts": 2},
        "calendar": {"name": {"Fn::GetAtt": ["Works", "name"]}},
        "policy": {"Fn::GetAtt": ["Mailer", "name"]},
    }
    assert application.deploy(Hello=("Job", job), Works=works, Mailer=mailer) == "CREATE_COMPLETE"
    assert application.outputs() == {"Ref": f"{namespace}/hello", "Name": "hello"}
    [delivery] = scene.receiver.wait("/hello", 1, within_s=90)
    assert json.loads(delivery.body) == {"count": 5}
    assert client.ask("GET", scene.schedule.path("hello"))["owner"].endswith("/Hello")

    again = {**job, "dueTime": "30d", "retry": {"maxAttempts": 3}}
    assert application.deploy(Hello=("Job", again), Works=works, Mailer=mailer) == "UPDATE_COMPLETE"
    assert client.ask("GET", scene.schedule.path("hello"))["retry"] == {"maxAttempts": 3}

    renamed = {**again, "name": "goodbye"}
    assert application.deploy(Hello=("Job", renamed), Works=works, Mailer=mailer) == "UPDATE_COMPLETE"
    eventually(lambda: [client.call("GET", scene.schedule.path("hello")).status], lambda each: each == 404)
    assert client.call("GET", scene.schedule.path("goodbye")).status == 200

    application.delete()
    for kind in ("jobs", "policies", "calendars"):
        assert client.ask("GET", f"/v1/namespaces/{namespace}/{kind}")["items"] == []


def test_a_first_deployment_that_fails_leaves_nothing(application: Application, scene: Scene) -> None:
    of = {"namespace": f"{scene.schedule.namespace}-first", "dueTime": "30d", "target": scene.target("x")}
    last = {**of, "name": "last", "labels": {"after": {"Ref": "One"}}, "repeats": "many"}
    assert application.deploy(One=("Job", {**of, "name": "one"}), Last=("Job", last)) == "ROLLBACK_COMPLETE"
    assert "/repeats: Must be a whole number" in " ".join(application.reasons())
    assert scene.schedule.client.ask("GET", f"/v1/namespaces/{of['namespace']}/jobs")["items"] == []


def test_a_deployment_that_fails_says_why_in_the_words_of_the_api_and_is_rolled_back(
    application: Application, scene: Scene
) -> None:
    client, namespace = scene.schedule.client, scene.schedule.namespace
    job = {"namespace": namespace, "dueTime": "30d", "target": scene.target("x")}
    assert application.deploy(One=("Job", {**job, "name": "one"})) == "CREATE_COMPLETE"
    before = client.ask("GET", scene.schedule.path("one"))

    scene.schedule.put("taken", schedule="@daily", target=scene.target("x"))
    changed = ("Job", {**job, "name": "one", "description": "changed"})
    after_one = {**job, "labels": {"after": {"Ref": "One"}}}
    for failing in ({"name": "two", "schedule": "tomorrow"}, {"name": "taken"}):
        status = application.deploy(One=changed, Last=("Job", {**after_one, **failing}))
        assert status == "UPDATE_ROLLBACK_COMPLETE"
        after = client.ask("GET", scene.schedule.path("one"))
        assert "description" not in after
        assert after["createdAt"] == before["createdAt"]
        assert client.call("GET", scene.schedule.path("two")).status == 404
    reasons = " ".join(application.reasons())
    assert "/schedule: " in reasons
    assert "There is a job taken already" in reasons
    assert client.ask("GET", scene.schedule.path("taken"))["schedule"] == "@daily"
