"""Requests to the API as an HTTP API of API Gateway hands them to the API function."""

import json
from typing import Any


def api_event(method: str, path: str, body: Any) -> dict[str, Any]:
    """A request from the admin, in payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": "ANY /v1/{proxy+}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json"},
        "requestContext": {
            "authorizer": {"lambda": {"keyId": "admin", "namespace": "*", "role": "admin"}},
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"},
            "requestId": "bench",
            "stage": "$default",
        },
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }
