"""The calls about keys, secrets and signatures."""

from collections.abc import Iterator, Sequence
from typing import cast

from sweephand_client.api.answers import (
    AdminChange,
    Key,
    NewKey,
    PublicKey,
    RotatedKey,
    Secret,
    SigningSecret,
)
from sweephand_client.api.paging import items
from sweephand_client.http.transport import Transport


class Keys:
    """API keys. These calls need the role `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def make(
        self,
        namespace: str,
        role: str,
        *,
        expires_in: str | None = None,
        description: str | None = None,
        principal: str | None = None,
        requests_per_minute: int | None = None,
    ) -> NewKey:
        """Make a key. Only this answer shows it. It is never sent twice by itself.

        `namespace` may be `*`. With `principal`, the ARN of a role or user of IAM, the key has no secret.
        """
        body: dict[str, object] = {"namespace": namespace, "role": role}
        given = {
            "expiresIn": expires_in,
            "description": description,
            "principal": principal,
            "requestsPerMinute": requests_per_minute,
        }
        body |= {name: value for name, value in given.items() if value is not None}
        return cast("NewKey", self._transport.call("makeKey", body=body).body)

    def list(self) -> Iterator[Key]:
        """The keys that the caller may revoke, without their secrets."""
        return items(self._transport, "listKeys", {}, {})

    def rotate(self, key_id: str, *, overlap: str | None = None, expires_in: str | None = None) -> RotatedKey:
        """Make a key in place of another one. Only this answer shows it. Never sent twice by itself."""
        given = {"overlap": overlap, "expiresIn": expires_in}
        body = {name: value for name, value in given.items() if value is not None}
        return cast("RotatedKey", self._transport.call("rotateKey", {"id": key_id}, body=body).body)

    def revoke(self, key_id: str) -> None:
        """Revoke a key, and every key that it made. The gateway may accept them for up to a minute more."""
        self._transport.call("revokeKey", {"id": key_id})

    def changes(self, *, since: str | None = None, until: str | None = None) -> Iterator[AdminChange]:
        """Who changed keys, secrets and settings, newest first: from `since` on, and before `until`.

        Both are RFC 3339. A key of one namespace sees the changes in that namespace.
        """
        return items(self._transport, "listAdminChanges", {}, {"since": since, "until": until})


class Secrets:
    """The secrets that jobs may name. No call shows a value. These calls need the role `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def put(self, namespace: str, name: str, value: str) -> Secret:
        """Create a secret, or give it another value."""
        path = {"namespace": namespace, "secret": name}
        return cast("Secret", self._transport.call("putSecret", path, body={"value": value}).body)

    def delete(self, namespace: str, name: str) -> None:
        """Delete a secret, also while jobs name it: their triggers then fail."""
        self._transport.call("deleteSecret", {"namespace": namespace, "secret": name})

    def list(self, namespace: str) -> Iterator[Secret]:
        """The secrets by name, without their values."""
        return items(self._transport, "listSecrets", {"namespace": namespace}, {})


class Signing:
    """The secrets and keys that sign the deliveries of a namespace."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def secrets(self, namespace: str) -> Sequence[SigningSecret]:
        """The signing secrets that are active, newest first."""
        return cast("Sequence[SigningSecret]", self._items("showSigningSecrets", namespace))

    def rotate_secrets(self, namespace: str) -> Sequence[SigningSecret]:
        """Make a new signing secret. The old one signs for a day more. Never sent twice by itself."""
        return cast("Sequence[SigningSecret]", self._items("rotateSigningSecrets", namespace))

    def keys(self, namespace: str) -> Sequence[PublicKey]:
        """The public ed25519 keys that sign now, newest first."""
        return cast("Sequence[PublicKey]", self._items("showSigningKeys", namespace))

    def rotate_keys(self, namespace: str) -> Sequence[PublicKey]:
        """Make a new ed25519 key. The old one signs for a day more. Never sent twice by itself."""
        return cast("Sequence[PublicKey]", self._items("rotateSigningKeys", namespace))

    def end_keys(self, namespace: str) -> None:
        """Let no ed25519 key sign any more."""
        self._transport.call("endSigningKeys", {"namespace": namespace})

    def _items(self, operation: str, namespace: str) -> Sequence[object]:
        found: Sequence[object] = self._transport.call(operation, {"namespace": namespace}).body["items"]
        return found
