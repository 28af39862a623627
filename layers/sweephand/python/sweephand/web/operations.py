"""The table of all operations of the API, and the OpenAPI document that is made from it."""

from functools import lru_cache, partial
from typing import Any, Final

from sweephand.access.authentication import Auth
from sweephand.targets.registry import end_target_types
from sweephand.targets.target_type import TargetType
from sweephand.web.http import json_text, openapi
from sweephand.web.http.operation import NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.routes import (
    batches,
    bulk,
    bulk_runs,
    calendars,
    callbacks,
    changes,
    console,
    explain,
    forecast,
    jobs,
    keys,
    namespaces,
    occurrences,
    on_demand,
    overview,
    pause,
    policies,
    policy_keys,
    repair,
    runs,
    secrets,
    service,
    stats,
    windows,
)


@partial(
    Operation,
    method="GET",
    path="/v1/openapi.json",
    tag="Service",
    access="open",
    returns={200: Returns("OpenAPI 3.1", dict[str, Any])},
)
def show_description(services: Services, _: Request[NoQuery, None]) -> Reply:
    """Show this description as OpenAPI."""
    return Reply(200, json_text.raw(description(services.auth)), {"cache-control": "max-age=300"})


def description(auth: Auth = Auth()) -> str:  # noqa: B008 - a NamedTuple does not change
    """The OpenAPI document of all operations and target types, as JSON text, for a stack with this mode.

    It is made at the first call, and again after the registered target types have changed.
    """
    return _description_with(auth, tuple(end_target_types().values()))


@lru_cache(maxsize=2)
def _description_with(auth: Auth, _: tuple[TargetType, ...]) -> str:
    return json_text.write(openapi.describe(OPERATIONS, auth))


OPERATIONS: Final[tuple[Operation, ...]] = (
    jobs.put_job,
    jobs.get_job,
    jobs.delete_job,
    jobs.list_jobs,
    jobs.patch_job,
    pause.pause_job,
    pause.resume_job,
    on_demand.trigger_job,
    on_demand.backfill_job,
    changes.list_changes,
    explain.explain_job,
    bulk.pause_jobs,
    bulk.resume_jobs,
    bulk.delete_jobs,
    bulk.put_jobs,
    occurrences.list_occurrences,
    occurrences.preview_occurrences,
    forecast.forecast,
    runs.list_runs,
    runs.get_run,
    runs.list_namespace_runs,
    overview.show_overview,
    stats.stats,
    batches.list_batches,
    batches.get_batch,
    runs.redrive_run,
    bulk_runs.redrive_runs,
    bulk_runs.cancel_runs,
    callbacks.heartbeat_run,
    callbacks.complete_run,
    callbacks.fail_run,
    callbacks.cancel_run,
    calendars.put_calendar,
    calendars.preview_calendar,
    calendars.get_calendar,
    calendars.list_calendar_days,
    calendars.delete_calendar,
    calendars.list_calendars,
    policies.put_policy,
    policies.pause_policy,
    policies.resume_policy,
    policies.get_policy,
    policies.delete_policy,
    policies.list_policies,
    policy_keys.list_policy_keys,
    policies.list_policy_changes,
    namespaces.list_namespaces,
    namespaces.get_namespace,
    namespaces.put_namespace,
    windows.put_window,
    windows.get_window,
    windows.delete_window,
    windows.list_windows,
    secrets.show_signing_secrets,
    secrets.rotate_signing_secrets,
    secrets.end_old_signing_secrets,
    secrets.show_signing_keys,
    secrets.rotate_signing_keys,
    secrets.end_signing_keys,
    secrets.put_secret,
    secrets.list_secrets,
    secrets.delete_secret,
    keys.make_key,
    keys.list_keys,
    keys.rotate_key,
    keys.revoke_key,
    service.show_me,
    changes.list_admin_changes,
    repair.rebuild,
    repair.audit,
    service.show_health,
    service.show_limits,
    service.show_page,
    console.show_console,
    console.show_console_asset,
    show_description,
)
