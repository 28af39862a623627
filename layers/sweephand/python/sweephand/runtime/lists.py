"""The lists function: it checks, packs and digests the lists of parameters while a stack is deployed."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.delivery.stack_answer import answer
from sweephand.runtime.packed_lists import digest, pack
from sweephand.runtime.settings import Settings

#: The property whose variables the functions get in their environments.
_PACKED: Final = "Targets"

#: What CloudFormation adds to the properties of the template.
_OWN: Final = frozenset({"ServiceToken", "ServiceTimeout"})


def handle(event: Mapping[str, Any]) -> Exception | None:
    """Answer a request of CloudFormation for the custom resource, and return the error that the answer gave.

    A list that the functions could not read fails the deployment here, before any function has changed.
    """
    error: Exception | None = None
    attributes: dict[str, str] = {}
    try:
        if event["RequestType"] != "Delete":
            attributes = attributes_of(event["ResourceProperties"])
    except Exception as caught:  # noqa: BLE001 - CloudFormation would wait for its answer until its time-out
        error = caught
    answer(event, error, attributes)
    return error


def attributes_of(properties: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of the resource: a digest of each property, and the packed targets.

    Raises SettingsError for a list that is malformed, and ListsTooLongError.
    """
    Settings.read(properties[_PACKED])
    digests = {f"{name}Digest": digest(value) for name, value in properties.items() if name not in _OWN}
    return {**digests, _PACKED: pack(properties[_PACKED])}
