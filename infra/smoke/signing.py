"""A client of a stack with AuthMode=iam: it signs each request as a user or role of the account."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials, ReadOnlyCredentials
from infra.local.client import Client, Response


class SigningClient(Client):
    """Calls the API with Signature Version 4."""

    def __init__(self, api_url: str, credentials: Credentials | ReadOnlyCredentials, region: str) -> None:
        super().__init__(api_url, "")
        self.credentials = credentials
        self._signer = SigV4Auth(credentials, "execute-api", region)

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """The answer of the API, whatever its status is."""
        data = b"" if body is None else json.dumps(body).encode()
        request = AWSRequest(method, f"{self.api_url}{path}", data=data)
        self._signer.add_auth(request)
        signed = {name.lower(): value for name, value in request.headers.items()}
        return super().call(method, path, body, {**signed, **(headers or {})})
