"""Settings that Sweephand needs and that ministack's CloudFormation does not take from the template.

On AWS the template alone is enough. The concurrency of an event source arrives as a string if it comes from a
parameter. The poller then fails to compare it with a number and delivers nothing at all. ministack also drops
a table's time to live, recovery and encryption, which a laptop does not need.

The admin key is made here as well. All local stacks of this checkout get the same key, so that it stays valid
from one stack to the next.
"""

import secrets
from contextlib import suppress
from hashlib import sha256

from infra.local.deploy import aws_client, invoke, outputs
from infra.local.places import ADMIN_SECRET, LOCAL, Place, write_private


def complete(place: Place) -> None:
    """Apply all settings to the stack deployed at this place. Applying them again changes nothing.

    A stack whose callers an issuer of tokens knows has no function for admin keys, and keeps the keys that it
    has.
    """
    if "AdminKeyFunctionName" in outputs(place):
        digest = sha256(admin_secret().encode()).hexdigest()
        invoke(place, "AdminKey", {"secretSha256": digest, "description": "the key of local stacks"})
    functions = aws_client(place, "lambda")
    for source in functions.list_event_source_mappings()["EventSourceMappings"]:
        if "ScalingConfig" in source:
            scaling = {"MaximumConcurrency": int(source["ScalingConfig"]["MaximumConcurrency"])}
            functions.update_event_source_mapping(UUID=source["UUID"], ScalingConfig=scaling)


def admin_secret() -> str:
    """The secret of the admin key of every local stack. It is made when it is first asked for."""
    LOCAL.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        write_private(ADMIN_SECRET, secrets.token_hex(32))
    return ADMIN_SECRET.read_text(encoding="utf-8")
