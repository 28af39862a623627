"""The parameters of a deployed stack, which a test may change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from infra.local.deploy import complete, session
from infra.local.places import STACK_NAME, Place
from tests.e2e.schedule import eventually


@dataclass(frozen=True)
class Parameters:
    """Updates the stack. A test puts back what it has changed, because other tests run on the same stack."""

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
        complete(Place(urlsplit(self.stack["awsEndpointUrl"]).port or 0))
