"""What the trail of admins says of keys."""

from sweephand.base.instants import Instant, rfc3339
from sweephand.model.admin_change import AdminChange
from sweephand.model.api_key import Key
from sweephand.model.change import changes_between


def created(key: Key, version: str) -> AdminChange:
    """That a key was made by the caller that it names."""
    shown = {
        "role": key.role,
        "expiresAt": _time(key.expires_at),
        "principal": key.principal,
        "description": key.description,
        "requestsPerMinute": key.requests_per_minute,
    }
    fields = tuple(changes_between({}, {name: value for name, value in shown.items() if value is not None}))
    return AdminChange(
        key.created_at, key.created_by, "created", "key", key.namespace, key.id, version, fields
    )


def rotated(old: Key, ended: Key, who: str, at: Instant, version: str) -> AdminChange:
    """That a key was rotated: its new end, and its successor."""
    before = {"expiresAt": _time(old.expires_at), "replacedBy": old.replaced_by}
    after = {"expiresAt": _time(ended.expires_at), "replacedBy": ended.replaced_by}
    fields = tuple(changes_between(before, after))
    return AdminChange(at, who, "rotated", "key", old.namespace, old.id, version, fields)


def revoked(key: Key, who: str, at: Instant, version: str, reason: str | None = None) -> AdminChange:
    """That a key was revoked."""
    return AdminChange(at, who, "revoked", "key", key.namespace, key.id, version, (), reason)


def _time(instant: Instant | None) -> str | None:
    return None if instant is None else rfc3339(instant)
