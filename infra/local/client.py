"""A client of a running stack's API: JSON in, JSON out, with the stack's admin key."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials, ReadOnlyCredentials

#: Longer than the gateway of AWS waits. On a busy machine, functions that are new take long to start.
_TIMEOUT_S = 60

_JOBS_PER_CALL = 100

#: A bulk call that the stack did not finish is made again, so many times in all.
_TRIES_MAX = 4


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of the API. `body` is its JSON, or its text if that is no JSON; None if it has none."""

    status: int
    headers: Mapping[str, str]
    body: Any


class RefusedError(Exception):
    """The API did not answer 2xx. The message is its answer."""


class Client:
    """Calls one stack.

    Leaving the context closes its connections. It never retries, so that tests see each answer. Without a key
    it sends none.
    """

    def __init__(self, api_url: str, api_key: str | None) -> None:
        self.api_url = api_url
        self.api_key = api_key
        self._pool = urllib3.PoolManager(maxsize=8)

    @classmethod
    def of(cls, stack: Mapping[str, Any]) -> Self:
        """The client of the stack that a stack file describes, with its admin key."""
        return cls(stack["apiUrl"], stack["apiKey"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connections. The next call opens one."""
        self._pool.clear()

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """The answer of the API, whatever its status is."""
        key = {} if self.api_key is None else {"authorization": f"Bearer {self.api_key}"}
        sent, data = {**key, **(headers or {})}, None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("content-type", "application/json")
        answer = self._pool.request(
            method, f"{self.api_url}{path}", body=data, headers=sent, timeout=_TIMEOUT_S, retries=False
        )
        lower = {name.lower(): value for name, value in answer.headers.items()}
        return Response(answer.status, lower, _body(answer.data.decode(errors="replace")))

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of a 2xx answer. RefusedError for any other answer."""
        response = self.call(method, path, body)
        if not 200 <= response.status < 300:  # noqa: PLR2004 - 2xx
            raise RefusedError(f"{method} {path} was answered {response.status}: {response.body}")
        return response.body

    def signing_secrets(self, namespace: str) -> list[str]:
        """The secrets (`whsec_…`) that sign deliveries of this namespace."""
        items = self.ask("GET", f"/v1/namespaces/{namespace}/signing-secrets")["items"]
        return [item["secret"] for item in items]


class SigningClient(Client):
    """Calls a stack with AuthMode=iam. It signs each request as a user or role (Signature Version 4)."""

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


def write_jobs(client: Client, namespace: str, jobs: Sequence[Mapping[str, Any]]) -> None:
    """Write any number of jobs, one bulk call after the other. RuntimeError if some were not written.

    A call is made again for the jobs that the stack did not write. Writing a job twice changes nothing.
    """
    for start in range(0, len(jobs), _JOBS_PER_CALL):
        remaining, why = list(jobs[start : start + _JOBS_PER_CALL]), ""
        for _ in range(_TRIES_MAX):
            try:
                answer = client.ask("POST", f"/v1/namespaces/{namespace}/jobs", {"jobs": remaining})
            except (urllib3.exceptions.HTTPError, RefusedError) as error:
                why = str(error)
                continue
            refused = {each["name"]: each for each in answer["results"] if each["status"] not in (200, 201)}
            remaining = [job for job in remaining if job["name"] in refused]
            if not remaining:
                break
            why = str(next(iter(refused.values())))
        else:
            message = f"{len(remaining)} jobs of {namespace} were not written in {_TRIES_MAX} calls: {why}"
            raise RuntimeError(message)


def _body(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text or None
