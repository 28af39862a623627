"""The lists function: it checks, packs and digests the lists of parameters while a stack is deployed.

Long lists travel packed in a function's environment, which holds 4 KB in all. A list of ARNs repeats its
service, region and account in each entry, so deflate makes it eight times shorter.
"""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from sweephand.base.errors import SweephandError
from sweephand.delivery.cloudformation import answer
from sweephand.runtime.settings import Settings

#: The characters of the lists in an environment. Everything else there is shorter than the rest of 4 KB.
PACKED_LENGTH_MAX: Final = 1_600

#: The characters of a digest. The description of a version, 256 characters long, may name four.
DIGEST_LENGTH: Final = 8


class ListsTooLongError(SweephandError):
    """The lists do not fit into the environment of a function. The message says what to do."""


def pack(variables: Mapping[str, str]) -> str:
    """The variables as one text, which `unpack` reads. Raises ListsTooLongError."""
    packed = b64encode(zlib.compress(json.dumps(variables).encode(), 9)).decode()
    if len(packed) > PACKED_LENGTH_MAX:
        raise ListsTooLongError(
            f"The lists of targets, hosts and networks take {len(packed)} characters after compression, and "
            f"the functions have room for {PACKED_LENGTH_MAX}. Use patterns such as arn:...:orders-*."
        )
    return packed


def unpack(text: str) -> dict[str, str]:
    """The variables of a packed text. Raises ValueError for any other text."""
    try:
        variables: dict[str, str] = json.loads(zlib.decompress(b64decode(text, validate=True)))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    return variables


def digest(value: Any) -> str:
    """A short text that is another one for another value, for the descriptions of versions."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()[:DIGEST_LENGTH]


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
    answer(event, error, attributes, endpoint_url=Settings.read().endpoint_url)
    return error


def attributes_of(properties: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of the resource: a digest of each property, and the packed targets.

    Raises SettingsError for a list that is malformed, and ListsTooLongError.
    """
    Settings.read(properties[_PACKED])
    digests = {f"{name}Digest": digest(value) for name, value in properties.items() if name not in _OWN}
    return {**digests, _PACKED: pack(properties[_PACKED])}
