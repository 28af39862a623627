"""The parameters of a deployed stack, which a test may change."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from infra.local.deploy import complete, session
from infra.local.places import STACK_NAME, Place
from tests.e2e.schedule import eventually


def place_of(stack: Mapping[str, Any]) -> Place:
    """Where a stack is."""
    return Place(urlsplit(stack["awsEndpointUrl"]).port or 0)


@dataclass(frozen=True)
class Parameters:
    """Updates the stack, on which other tests run too: `changed` puts back what a test has changed."""

    stack: Mapping[str, Any]

    def client(self, service: str) -> Any:
        make: Any = session().client
        return make(service, endpoint_url=self.stack["awsEndpointUrl"])

    def get(self) -> Mapping[str, str]:
        """The value of each parameter."""
        [found] = self.client("cloudformation").describe_stacks(StackName=STACK_NAME)["Stacks"]
        return {each["ParameterKey"]: each["ParameterValue"] for each in found["Parameters"]}

    def set(self, **values: str) -> None:
        """Update the stack, whose other parameters keep their values."""
        before = self.get()
        if before == {**before, **values}:
            return  # CloudFormation refuses an update that changes nothing
        client = self.client("cloudformation")
        kept = before.keys() - values.keys()
        client.update_stack(
            StackName=STACK_NAME,
            UsePreviousTemplate=True,
            Parameters=[
                *({"ParameterKey": name, "UsePreviousValue": True} for name in kept),
                *({"ParameterKey": name, "ParameterValue": value} for name, value in values.items()),
            ],
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        )
        eventually(
            lambda: client.describe_stacks(StackName=STACK_NAME)["Stacks"],
            lambda each: each["StackStatus"] == "UPDATE_COMPLETE",
            within_s=90,
        )
        complete(place_of(self.stack))


@contextmanager
def changed(stack: Mapping[str, Any], **values: str) -> Iterator[Parameters]:
    """The parameters with these values. All of them have their former values after the context."""
    parameters = Parameters(stack)
    before = parameters.get()
    try:
        parameters.set(**values)
        yield parameters
    finally:
        parameters.set(**before)
