"""The commands about policies, windows, namespaces and schedules."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Annotated, Any, Final, cast

import typer

from sweephand_client.commands.inputs import (
    Yes,
    ask,
    read_breaker,
    read_labels,
    read_object,
    read_rate,
    read_whole_number,
)
from sweephand_client.commands.job_options import read_schedule
from sweephand_client.commands.session import Session, command
from sweephand_client.commands.tables import show_changes, show_occurrences
from sweephand_client.commands.times import AHEAD, given
from sweephand_client.http.errors import NotFoundError
from sweephand_client.openapi.namespaces import NamespaceRequest
from sweephand_client.openapi.policies import (
    PolicyKeyResponse,
    PolicyRequest,
    PolicyResponse,
    WholePolicyResponse,
)
from sweephand_client.openapi.requests import Dst, PreviewRequest
from sweephand_client.openapi.windows import WindowRequest

policies = typer.Typer(no_args_is_help=True, help="Flow policies: how much is delivered at once.")
windows = typer.Typer(no_args_is_help=True, help="Windows: times in which nothing is delivered.")
namespaces = typer.Typer(no_args_is_help=True, help="Namespaces and their settings.")
schedules = typer.Typer(no_args_is_help=True, help="Schedules that are not stored.")

#: The columns of a policy and its limits.
_LIMITS: Final = ("NAME", "STATE", "AT ONCE", "RATE", "BY", "IN EFFECT")

_STATES: Final = {True: "open", False: "closed"}

_Window = Annotated[str, typer.Argument(help="The name of the window.", show_default=False)]
_Policy = Annotated[str, typer.Argument(help="The name of the policy.", show_default=False)]


@command(policies, "put")
def put_policy(
    session: Session,
    name: _Policy,
    *,
    max_concurrent: Annotated[
        str | None, typer.Option(help="How many requests may be open at once.", metavar="INTEGER")
    ] = None,
    rate: Annotated[str | None, typer.Option(help="How many may leave in a time, as 100/1m.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Each value has the limits by itself: host, job or label:NAME.")
    ] = None,
    breaker: Annotated[
        str | None,
        typer.Option(help="After so many failures in a row triggers wait, with a probe each time, as 10/1m."),
    ] = None,
    if_match: Annotated[str | None, typer.Option(help="Only if the policy has this revision.")] = None,
    if_absent: Annotated[
        bool, typer.Option("--if-absent", help="Only if the policy does not exist.")
    ] = False,
) -> None:
    """Create or replace a policy. A limit that is left out is removed, and so is the breaker."""
    policy: PolicyRequest = {}
    if max_concurrent is not None:
        policy["maxConcurrent"] = read_whole_number(max_concurrent)
    if rate is not None:
        policy["rate"] = read_rate(rate)
    if by is not None:
        policy["by"] = by
    if breaker is not None:
        policy["breaker"] = read_breaker(breaker)
    written = session.client.policies.put(
        session.namespace, name, policy, if_match=if_match, if_absent=if_absent
    )
    session.output.done(f"Wrote the policy {name}.", written)


@command(policies, "get")
def get_policy(session: Session, name: _Policy) -> None:
    """Show a policy, and how much of it is in use."""
    session.output.fields(session.client.policies.get(session.namespace, name))


@command(policies, "list")
def list_policies(
    session: Session,
    *,
    use: Annotated[
        bool, typer.Option("--use", help="Also what is in use and what waits, by a call for each policy.")
    ] = False,
) -> None:
    """List policies by name."""
    found = session.client.policies.list(session.namespace)
    if use:
        in_use = list(_with_use(session, found))
        rows = [
            (*_limit_cells(each), each.get("inUse"), _waiting(each), each.get("waitingSince"))
            for each in in_use
        ]
        session.output.table((*_LIMITS, "IN USE", "WAITING", "SINCE"), rows, in_use)
        return
    listed = list(found)
    session.output.table(_LIMITS, map(_limit_cells, listed), listed)


@command(policies, "keys")
def list_policy_keys(session: Session, name: _Policy) -> None:
    """List the values that wait under a policy with `by`, those first that have waited longest."""
    found = list(session.client.policies.keys(session.namespace, name))
    rows = [(each["value"], _waiting(each), each["waitingSince"]) for each in found]
    session.output.table(("VALUE", "WAITING", "SINCE"), rows, found)


@command(policies, "pause")
def pause_policy(
    session: Session,
    name: _Policy,
    *,
    reason: Annotated[str | None, typer.Option(help="Why, for people.")] = None,
) -> None:
    """Pause a policy: the triggers of its jobs wait until it is resumed."""
    written = session.client.policies.pause(session.namespace, name, reason=reason)
    session.output.done(f"Paused the policy {name}.", written)


@command(policies, "resume")
def resume_policy(session: Session, name: _Policy) -> None:
    """Resume a policy."""
    written = session.client.policies.resume(session.namespace, name)
    session.output.done(f"Resumed the policy {name}.", written)


@command(policies, "delete")
def delete_policy(session: Session, name: _Policy, *, yes: Yes = False) -> None:
    """Delete a policy. Its limit holds for the jobs that name it. Resume a paused one first."""
    ask(f"Delete the policy {name} of {session.namespace}?", is_sure=yes)
    session.client.policies.delete(session.namespace, name)
    session.output.done(f"Deleted the policy {name}.", {"deleted": 1})


@command(policies, "changes")
def policy_changes(session: Session, name: _Policy) -> None:
    """List who changed a policy, newest first."""
    show_changes(session, list(session.client.policies.changes(session.namespace, name)))


@command(windows, "put")
def put_window(
    session: Session,
    name: _Window,
    *,
    since: Annotated[str | None, typer.Option("--from", help=f"When it opens, once: {AHEAD}.")] = None,
    to: Annotated[str | None, typer.Option(help="When it closes.")] = None,
    schedule: Annotated[str | None, typer.Option(help="When it opens, each time, as '0 22 * * *'.")] = None,
    timezone: Annotated[
        str | None, typer.Option("--timezone", "-z", help="The zone of --schedule, as Europe/Paris.")
    ] = None,
    duration: Annotated[str | None, typer.Option(help="How long it is open each time, as 2h.")] = None,
    then: Annotated[
        str | None, typer.Option(help="What becomes of triggers that are due in it: hold or skip.")
    ] = None,
    spread: Annotated[
        str | None, typer.Option(help="Over which time after it they are delivered; by default 1m.")
    ] = None,
    prefix: Annotated[str | None, typer.Option(help="Only jobs whose names begin so.")] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", "-l", help="Only jobs with this label, NAME=VALUE.")
    ] = None,
    if_match: Annotated[str | None, typer.Option(help="Only if the window has this revision.")] = None,
    if_absent: Annotated[
        bool, typer.Option("--if-absent", help="Only if the window does not exist.")
    ] = False,
) -> None:
    """Create or replace a window: give --from and --to, or --schedule and --duration."""
    ahead = session.times.ahead
    fields = {
        "from": given(ahead, since),
        "to": given(ahead, to),
        "schedule": schedule,
        "timezone": timezone,
        "duration": duration,
        "then": then,
        "spread": spread,
        "prefix": prefix,
        "labels": read_labels(label or ()) or None,
    }
    window = cast("WindowRequest", {name: value for name, value in fields.items() if value is not None})
    written = session.client.windows.put(
        session.namespace, name, window, if_match=if_match, if_absent=if_absent
    )
    session.output.done(f"Wrote the window {name}.", written)


@command(windows, "get")
def get_window(session: Session, name: _Window) -> None:
    """Show a window, and when it is open."""
    session.output.fields(session.client.windows.get(session.namespace, name))


@command(windows, "list")
def list_windows(session: Session) -> None:
    """List windows by name."""
    found = session.client.windows.list(session.namespace)
    rows = [
        (each["name"], _STATES[each["isOpen"]], each["opensAt"], each["closesAt"], each["then"])
        for each in found
    ]
    session.output.table(("NAME", "STATE", "OPENS", "CLOSES", "THEN"), rows, found)


@command(windows, "delete")
def delete_window(session: Session, name: _Window, *, yes: Yes = False) -> None:
    """Delete a window. What it holds is delivered within a day."""
    ask(f"Delete the window {name} of {session.namespace}?", is_sure=yes)
    session.client.windows.delete(session.namespace, name)
    session.output.done(f"Deleted the window {name}.", {"deleted": 1})


@command(namespaces, "list")
def list_namespaces(session: Session) -> None:
    """List the namespaces that the key sees."""
    found = list(session.of_namespace(session.client.namespaces.list()))
    session.output.table(("NAMESPACE",), [(each["namespace"],) for each in found], found)


@command(namespaces, "show")
def show_namespace(session: Session) -> None:
    """Show the settings of the namespace."""
    session.output.fields(session.client.namespaces.get(session.namespace))


@command(namespaces, "set")
def set_namespace(
    session: Session,
    settings: Annotated[str, typer.Argument(help="All settings, as JSON, @FILE or -.", show_default=False)],
    *,
    if_match: Annotated[str | None, typer.Option(help="Only if the settings have this revision.")] = None,
) -> None:
    """Replace all settings of the namespace. A field that is left out is removed. `limits` is required."""
    document = cast("NamespaceRequest", read_object(settings, "SETTINGS"))
    written = session.client.namespaces.put(session.namespace, document, if_match=if_match)
    session.output.done(f"Wrote the settings of {session.namespace}.", written)


@command(schedules)
def explain(
    session: Session,
    expression: Annotated[str, typer.Argument(help="'30 2 * * *', '@every 1h', ….", show_default=False)],
    *,
    timezone: Annotated[
        str | None, typer.Option("--timezone", "-z", help="The zone, as Europe/Paris.")
    ] = None,
    after: Annotated[str | None, typer.Option(help=f"Only due times after this time: {AHEAD}.")] = None,
    gap: Annotated[str | None, typer.Option(help="A local time that does not exist: shift or skip.")] = None,
    overlap: Annotated[
        str | None, typer.Option(help="A local time that exists twice: first, last, both.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many due times to show.")] = 10,
) -> None:
    """Say what a schedule means: in words, its next due times, and what clock changes do to them."""
    dst = None if gap is None and overlap is None else cast("Dst", {"gap": gap, "overlap": overlap})
    asked: PreviewRequest = {
        "schedule": read_schedule(expression),
        "timezone": timezone,
        "dst": dst,
        "after": given(session.times.ahead, after),
        "limit": limit,
    }
    show_occurrences(session, session.client.preview(asked))


def _limit_cells(policy: PolicyResponse) -> tuple[Any, ...]:
    """The cells of a policy below _LIMITS."""
    rate = policy.get("rate")
    shown = None if rate is None else f"{rate['limit']}/{rate['per']}"
    return (
        policy["name"],
        policy["state"],
        policy.get("maxConcurrent"),
        shown,
        policy.get("by"),
        policy["effectiveMaxConcurrent"],
    )


def _with_use(session: Session, policies: Iterable[PolicyResponse]) -> Iterator[WholePolicyResponse]:
    """The policies with their use, without those that were deleted since they were listed."""
    for each in policies:
        with suppress(NotFoundError):
            yield session.client.policies.get(session.namespace, each["name"])


def _waiting(counted: WholePolicyResponse | PolicyKeyResponse) -> int | str | None:
    waiting = counted.get("waiting")
    return waiting if waiting is None or counted.get("waitingIsExact") else f"at least {waiting}"
