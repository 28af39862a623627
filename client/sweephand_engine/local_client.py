"""The typed client of a stack in this process. Its requests go to the gateway, and to no socket."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sweephand_client.api.client import Client
from sweephand_client.http.authorization import Bearer
from sweephand_client.http.transport import Transport
from sweephand_engine.gateway import Gateway

#: The address of the API. Nothing is sent there.
URL: Final = "https://sweephand.test"


def client_of(gateway: Gateway, key: str, sleep: Callable[[float], None]) -> Client:
    """The client that calls a gateway with that key, and waits between its attempts by `sleep`."""
    transport = Transport(URL, Bearer(key), sleep=sleep, draw=lambda: 0.5, pool=_Pool(gateway))
    return Client(URL, transport=transport)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    data: bytes


class _Pool:
    """The connections of a client in the process of its stack."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def request(
        self, method: str, url: str, *, body: bytes | None, headers: Mapping[str, str], redirect: bool
    ) -> _Answer:
        """The answer to a request. The API redirects nobody."""
        del redirect
        named = {name.lower(): text for name, text in headers.items()}
        response = self._gateway.answer(method, url.removeprefix(URL), named, body or b"")
        return _Answer(response.status, response.headers, response.body)

    def clear(self) -> None:
        """Nothing: there is no connection."""
