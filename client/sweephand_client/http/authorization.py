"""The ways to prove who calls: a key or a token in a header, or a signature of AWS."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sweephand_client.http.errors import InputError


class Authorization(Protocol):
    """Adds to a request what proves who calls."""

    def headers(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> dict[str, str]:
        """All headers to send, those given included. It is called for each attempt."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """A key of Sweephand (`sh_…`), or a JSON Web Token where the stack has AuthMode=jwt."""

    token: str

    def __repr__(self) -> str:
        return "Bearer(…)"

    def headers(
        self,
        method: str,  # noqa: ARG002 - only a signature needs the request
        url: str,  # noqa: ARG002 - same
        headers: Mapping[str, str],
        body: bytes | None,  # noqa: ARG002 - same
    ) -> dict[str, str]:
        """The headers with the token."""
        return {**headers, "authorization": f"Bearer {self.token}"}


class IamSignature:
    """Signatures of AWS (SigV4), where the stack has AuthMode=iam.

    The credentials are those that botocore finds, as the AWS CLI does. `region` is that of the stack. Raises
    InputError without botocore or credentials.
    """

    def __init__(self, region: str, credentials: Any = None) -> None:
        try:
            self._auth = importlib.import_module("botocore.auth")
            self._request = importlib.import_module("botocore.awsrequest")
            session = importlib.import_module("botocore.session")
        except ImportError:
            raise InputError(
                "Signatures of AWS need botocore. Install it: pip install 'sweephand[iam]'"
            ) from None
        self._region = region
        self._credentials = credentials or session.get_session().get_credentials()
        if self._credentials is None:
            raise InputError("No credentials of AWS were found. Set AWS_PROFILE, or run aws configure.")

    def headers(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> dict[str, str]:
        """The headers with the signature of this request at the present time."""
        request = self._request.AWSRequest(method=method, url=url, headers=dict(headers), data=body or b"")
        self._auth.SigV4Auth(self._credentials, "execute-api", self._region).add_auth(request)
        return dict(request.headers.items())
