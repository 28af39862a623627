"""Answers to CloudFormation, which waits for the answer of a custom resource."""

import json
from collections.abc import Mapping
from typing import Any, Final

import urllib3

_TIMEOUT_S = 10

#: The characters of an error in an answer. Each takes up to six bytes there.
_REASON_LENGTH_MAX: Final = 500


def answer(
    event: Mapping[str, Any], error: Exception | None = None, attributes: Mapping[str, str] | None = None
) -> None:
    """Tell CloudFormation that its request succeeded or, if there is an error, that it failed and why.

    `attributes` are what the template reads by `Fn::GetAtt`. An answer has 4,096 bytes at most, so a longer
    error is cut.

    The form is that of "Custom resource request and response reference" in the AWS CloudFormation User Guide.
    Raises urllib3's HTTPError. CloudFormation then counts the request as failed after the resource's timeout.
    """
    body = {
        "Status": "SUCCESS" if error is None else "FAILED",
        "Reason": "" if error is None else str(error)[:_REASON_LENGTH_MAX],
        **({"Data": attributes} if attributes else {}),
        "PhysicalResourceId": event.get("PhysicalResourceId", event["LogicalResourceId"]),
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    # The address is signed for a request without a content type.
    urllib3.request(
        "PUT",
        event["ResponseURL"],
        body=json.dumps(body).encode(),
        headers={"content-type": ""},
        timeout=_TIMEOUT_S,
    )
