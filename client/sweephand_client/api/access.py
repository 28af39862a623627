"""The calls about keys, secrets and signatures."""

from collections.abc import Iterator, Sequence

from sweephand_client.api.calls import Calls
from sweephand_client.openapi import operations
from sweephand_client.openapi.requests import KeyRequest, KeyRotation, Role, SecretRequest
from sweephand_client.openapi.stack_answers import (
    AdminChangeResponse,
    KeyResponse,
    NamedSecretResponse,
    NewKeyResponse,
    PublicKeyResponse,
    RotatedKeyResponse,
    SecretResponse,
)


class Keys(Calls):
    """API keys. These calls need the role `admin`."""

    def make(
        self,
        namespace: str,
        role: Role,
        *,
        expires_in: str | None = None,
        description: str | None = None,
        principal: str | None = None,
        requests_per_minute: int | None = None,
    ) -> NewKeyResponse:
        """Make a key. Only this answer shows it. It is never sent twice by itself.

        `namespace` may be `*`. With `principal`, the ARN of a role or user of IAM, the key has no secret.
        """
        body = KeyRequest(
            namespace=namespace,
            role=role,
            expiresIn=expires_in,
            description=description,
            principal=principal,
            requestsPerMinute=requests_per_minute,
        )
        return self._transport.call(operations.MAKE_KEY, body=body)

    def list(self) -> Iterator[KeyResponse]:
        """The keys that the caller may revoke, without their secrets."""
        return self._items(operations.LIST_KEYS)

    def rotate(
        self, key_id: str, *, overlap: str | None = None, expires_in: str | None = None
    ) -> RotatedKeyResponse:
        """Make a key in place of another one. Only this answer shows it. Never sent twice by itself."""
        body = KeyRotation(overlap=overlap, expiresIn=expires_in)
        return self._transport.call(operations.ROTATE_KEY, {"id": key_id}, body=body)

    def revoke(self, key_id: str) -> None:
        """Revoke a key, and every key that it made. The gateway may accept them for up to a minute more."""
        self._transport.call(operations.REVOKE_KEY, {"id": key_id})

    def changes(self, *, since: str | None = None, until: str | None = None) -> Iterator[AdminChangeResponse]:
        """Who changed keys, secrets and settings, newest first: from `since` on, and before `until`.

        Both are RFC 3339. A key of one namespace sees the changes in that namespace.
        """
        return self._items(operations.LIST_ADMIN_CHANGES, query={"since": since, "until": until})


class Secrets(Calls):
    """The secrets that jobs may name. No call shows a value. These calls need the role `admin`."""

    def put(self, namespace: str, name: str, value: str) -> NamedSecretResponse:
        """Create a secret, or give it another value."""
        path = {"namespace": namespace, "secret": name}
        return self._transport.call(operations.PUT_SECRET, path, body=SecretRequest(value=value))

    def delete(self, namespace: str, name: str) -> None:
        """Delete a secret, also while jobs name it: their triggers then fail."""
        self._transport.call(operations.DELETE_SECRET, {"namespace": namespace, "secret": name})

    def list(self, namespace: str) -> Iterator[NamedSecretResponse]:
        """The secrets by name, without their values."""
        return self._items(operations.LIST_SECRETS, {"namespace": namespace})


class Signing(Calls):
    """The secrets and keys that sign the deliveries of a namespace."""

    def secrets(self, namespace: str) -> Sequence[SecretResponse]:
        """The signing secrets that are active, newest first."""
        return self._transport.call(operations.SHOW_SIGNING_SECRETS, {"namespace": namespace})["items"]

    def rotate_secrets(self, namespace: str) -> Sequence[SecretResponse]:
        """Make a new signing secret. The old one signs for a day more. Never sent twice by itself."""
        return self._transport.call(operations.ROTATE_SIGNING_SECRETS, {"namespace": namespace})["items"]

    def end_old_secrets(self, namespace: str) -> None:
        """Let only the newest signing secret sign."""
        self._transport.call(operations.END_OLD_SIGNING_SECRETS, {"namespace": namespace})

    def keys(self, namespace: str) -> Sequence[PublicKeyResponse]:
        """The public ed25519 keys that sign now, newest first."""
        return self._transport.call(operations.SHOW_SIGNING_KEYS, {"namespace": namespace})["items"]

    def rotate_keys(self, namespace: str) -> Sequence[PublicKeyResponse]:
        """Make a new ed25519 key. The old one signs for a day more. Never sent twice by itself."""
        return self._transport.call(operations.ROTATE_SIGNING_KEYS, {"namespace": namespace})["items"]

    def end_keys(self, namespace: str) -> None:
        """Let no ed25519 key sign any more."""
        self._transport.call(operations.END_SIGNING_KEYS, {"namespace": namespace})
