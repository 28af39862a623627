"""The commands about keys, secrets, profiles and the stack itself."""

import os
from typing import Annotated, cast

import typer

from sweephand_client.commands.inputs import Yes, ask, read_secret
from sweephand_client.commands.session import Session, Watch, command
from sweephand_client.commands.tables import Limit, limited
from sweephand_client.commands.times import PAST, given
from sweephand_client.openapi.requests import Role
from sweephand_client.profiles import check_profile, read_profiles, remove_profile, write_profile

keys = typer.Typer(no_args_is_help=True, help="API keys. These commands need the role admin.")
secrets = typer.Typer(no_args_is_help=True, help="Secrets that jobs name, and those that sign deliveries.")
profiles = typer.Typer(no_args_is_help=True, help="Profiles: how to reach which stack.")

_KeyId = Annotated[str, typer.Argument(help="The id of the key.", show_default=False)]
_Secret = Annotated[str, typer.Argument(help="The name of the secret.", show_default=False)]
_Profile = Annotated[str, typer.Argument(help="The name of the profile.", show_default=False)]
_Since = Annotated[str | None, typer.Option(help=f"Only changes at this time or later: {PAST}.")]
_Until = Annotated[str | None, typer.Option(help="Only changes before this time.")]
_Expires = Annotated[str | None, typer.Option(help="How long the key works, as 90d.")]


@command(keys)
def make(
    session: Session,
    *,
    role: Annotated[str, typer.Option(help="read, write or admin.")],
    every_namespace: Annotated[
        bool, typer.Option("--every-namespace", help="A key for all namespaces.")
    ] = False,
    expires_in: _Expires = None,
    description: Annotated[str | None, typer.Option(help="A text for people.")] = None,
    principal: Annotated[
        str | None, typer.Option(help="The ARN of the IAM role or user that holds it.")
    ] = None,
    requests_per_minute: Annotated[
        int | None, typer.Option(help="How many requests it may send in a minute.")
    ] = None,
) -> None:
    """Make a key. Only this command shows it, on stdout."""
    made = session.client.keys.make(
        "*" if every_namespace else session.namespace,
        cast("Role", role),  # the API checks it
        expires_in=expires_in,
        description=description,
        principal=principal,
        requests_per_minute=requests_per_minute,
    )
    session.output.done(made["key"] or f"Made the key {made['id']}.", made)


@command(keys, "list")
def list_keys(session: Session) -> None:
    """List keys, without their secrets."""
    found = list(session.of_namespace(session.client.keys.list()))
    rows = [
        (each["id"], each["namespace"], each["role"], each["expiresAt"], each["description"])
        for each in found
    ]
    session.output.table(("ID", "NAMESPACE", "ROLE", "EXPIRES", "DESCRIPTION"), rows, found)


@command(keys)
def rotate(
    session: Session,
    key_id: _KeyId,
    *,
    overlap: Annotated[str | None, typer.Option(help="How long the old key works on, as 1h.")] = None,
    expires_in: _Expires = None,
) -> None:
    """Make a key in place of another one. Only this command shows it, on stdout."""
    made = session.client.keys.rotate(key_id, overlap=overlap, expires_in=expires_in)
    session.output.done(made["key"], made)


@command(keys)
def revoke(session: Session, key_id: _KeyId, *, yes: Yes = False) -> None:
    """Revoke a key. The gateway may accept it for up to a minute more."""
    ask(f"Revoke {key_id}?", is_sure=yes)
    session.client.keys.revoke(key_id)
    session.output.done(f"Revoked {key_id}.", {"revoked": key_id})


@command(secrets, "put")
def put_secret(session: Session, name: _Secret) -> None:
    """Create a secret, or give it another value. The value comes from stdin or a prompt."""
    value = read_secret("The value")
    written = session.client.secrets.put(session.namespace, name, value)
    session.output.done(f"Wrote the secret {name}.", written)


@command(secrets, "list")
def list_secrets(session: Session) -> None:
    """List secrets, without their values."""
    found = list(session.client.secrets.list(session.namespace))
    rows = [(each["name"], each["scheme"], each["updatedAt"]) for each in found]
    session.output.table(("NAME", "SIGNS BY", "CHANGED"), rows, found)


@command(secrets, "delete")
def delete_secret(session: Session, name: _Secret, *, yes: Yes = False) -> None:
    """Delete a secret. The triggers of jobs that name it fail."""
    ask(f"Delete the secret {name} of {session.namespace}?", is_sure=yes)
    session.client.secrets.delete(session.namespace, name)
    session.output.done(f"Deleted the secret {name}.", {"deleted": name})


@command(secrets)
def signing(
    session: Session,
    *,
    rotate: Annotated[bool, typer.Option("--rotate", help="Make a new one first.")] = False,
    end_old: Annotated[bool, typer.Option("--end-old", help="Let only the newest sign.")] = False,
) -> None:
    """Print the secrets that sign the deliveries of the namespace, newest first."""
    found = session.client.signing
    if rotate:
        found.rotate_secrets(session.namespace)
    if end_old:
        found.end_old_secrets(session.namespace)
    shown = found.secrets(session.namespace)
    rows = [(each["secret"], each["createdAt"], each["expiresAt"]) for each in shown]
    session.output.table(("SECRET", "MADE", "SIGNS UNTIL"), rows, shown)


@command(profiles)
def add(
    session: Session,
    name: _Profile,
    *,
    url: Annotated[str, typer.Option(help="The ApiUrl of the stack.")],
    default_namespace: Annotated[
        str | None, typer.Option(help="The namespace of commands that name none.")
    ] = None,
    auth: Annotated[str, typer.Option(help="key (also for a token), or iam.")] = "key",
    region: Annotated[str | None, typer.Option(help="The region, for iam at an address of your own.")] = None,
) -> None:
    """Write a profile. Its key comes from stdin or a prompt. Only you can read the file."""
    check_profile(name, url)
    key = read_secret("The key") if auth == "key" else None
    given = {"url": url, "key": key, "namespace": default_namespace, "auth": auth, "region": region}
    fields = {field: value for field, value in given.items() if value is not None}
    path = write_profile(os.environ, name, fields)
    session.output.done(f"Wrote the profile {name} to {path}.", {"profile": name, "path": str(path)})


@command(profiles, "list")
def list_profiles(session: Session) -> None:
    """List profiles, without their keys."""
    found = [
        {"profile": name, **{field: value for field, value in fields.items() if field != "key"}}
        for name, fields in sorted(read_profiles(os.environ).items())
    ]
    rows = [
        (each["profile"], each.get("url"), each.get("namespace"), each.get("auth", "key")) for each in found
    ]
    session.output.table(("PROFILE", "URL", "NAMESPACE", "AUTH"), rows, found)


@command(profiles)
def remove(session: Session, name: _Profile) -> None:
    """Remove a profile, with its key."""
    path = remove_profile(os.environ, name)
    session.output.done(f"Removed the profile {name} from {path}.", {"removed": name})


def changes(session: Session, *, since: _Since = None, until: _Until = None, limit: Limit = None) -> None:
    """List who changed keys, secrets, settings, windows and calendars, newest first. Needs the role admin."""
    times = session.times
    every = session.client.keys.changes(since=given(times.past, since), until=given(times.past, until))
    found = limited(session, session.of_namespace(every), limit)
    rows = [
        (
            each["time"],
            each["what"],
            each["subject"],
            each["namespace"],
            each["name"],
            each["who"],
            ", ".join(one["name"] for one in each["fields"]),
        )
        for each in found
    ]
    session.output.table(("TIME", "WHAT", "SUBJECT", "NAMESPACE", "NAME", "WHO", "FIELDS"), rows, found)


def status(session: Session, *, watch: Watch = False) -> None:
    """Show which stack the commands call, whether it ticks, and what the key allows."""
    me = session.client.me()

    def look() -> bool:
        health = session.client.health()
        found = {
            "url": session.stack.url,
            "found": session.stack.source,
            "heartbeatAt": health["heartbeatAt"],
            "enabled": health["enabled"],
            "version": health["version"],
            "key": me["id"],
            "namespace": me["namespace"],
            "role": me["role"],
            "expiresAt": me["expiresAt"],
        }
        session.output.fields(found)
        return not watch

    session.watch(look)
