"""Answering CloudFormation's requests for custom resources.

The form is that of "Custom resource request and response reference" in the AWS CloudFormation User Guide.
"""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import urllib3

from sweephand.base.errors import InvalidError, StoreError, Violation
from sweephand.base.names import shortened

#: A host of S3, with the bucket as its first part.
_S3_HOST: Final = r"[a-z0-9.-]+\.s3[.-]([a-z0-9-]+\.)*amazonaws\.com(\.cn)?"

_TRIES_MAX: Final = 3
_TIMEOUT_S: Final = 10

#: How long an answer may take: each try to connect and to wait, and the time between them.
ANSWER_MS_MAX: Final = 65_000

#: The characters of an error in an answer. Each takes up to six bytes there.
_REASON_LENGTH_MAX: Final = 500


def check_address(event: Mapping[str, Any], endpoint_url: str) -> None:
    """Raise InvalidError unless the answer to the request would go to S3, or to a local AWS.

    Whoever may invoke the function chooses the address. `endpoint_url` is that of the local AWS, or empty.
    """
    given = event.get("ResponseURL")
    found = urlsplit(given) if isinstance(given, str) else urlsplit("")
    is_local = endpoint_url != "" and (found.scheme, found.netloc) == urlsplit(endpoint_url)[:2]
    if not is_local and not (found.scheme == "https" and re.fullmatch(_S3_HOST, found.netloc)):
        raise InvalidError([Violation("/ResponseURL", "Give a presigned https address of S3.")])


def answer(
    event: Mapping[str, Any],
    error: Exception | None = None,
    attributes: Mapping[str, str] | None = None,
    *,
    physical_id: str | None = None,
    endpoint_url: str = "",
) -> None:
    """Tell CloudFormation that its request succeeded or, if there is an error, that it failed and why.

    `attributes` are what the template reads by `Fn::GetAtt`. They are in the template's outputs for everybody
    who may describe the stack, so they hold no secret. `physical_id` is the new id of the resource; without
    one it keeps its id. An answer has 4,096 bytes at most, so a longer error is cut.

    Raises InvalidError as check_address() does. Raises urllib3's HTTPError or StoreError if the answer was
    not taken, after three tries. Lambda then repeats the request.
    """
    check_address(event, endpoint_url)
    body = {
        "Status": "SUCCESS" if error is None else "FAILED",
        "Reason": "" if error is None else shortened(str(error), _REASON_LENGTH_MAX),
        **({"Data": attributes} if attributes else {}),
        "PhysicalResourceId": physical_id or event.get("PhysicalResourceId", event["LogicalResourceId"]),
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    # The address is signed for a request without a content type.
    response = urllib3.request(
        "PUT",
        event["ResponseURL"],
        body=json.dumps(body).encode(),
        headers={"content-type": ""},
        redirect=False,
        retries=urllib3.Retry(_TRIES_MAX - 1, backoff_factor=1, status_forcelist=range(500, 600)),
        timeout=_TIMEOUT_S,
    )
    if response.status != HTTPStatus.OK:
        raise StoreError(f"the address of the answer answered {response.status}")
