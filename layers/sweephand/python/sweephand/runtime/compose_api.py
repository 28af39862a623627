"""Makes the use cases that the operations of the API call."""

from collections.abc import Callable

from sweephand.access.callers import RequestRates
from sweephand.access.named_secrets import SecretAdmin, SecretReader
from sweephand.access.signing_keys import SigningKeys
from sweephand.base.concurrency import Concurrently
from sweephand.jobs.bulk import Bulk, BulkWriter
from sweephand.jobs.calendars import CalendarAdmin, CalendarCheck
from sweephand.jobs.change_history import ChangeHistory, PolicyChangeHistory
from sweephand.jobs.commit import Commits
from sweephand.jobs.eventbridge.groups import ScheduleGroups
from sweephand.jobs.expiry import JobExpiry
from sweephand.jobs.forecast import Forecaster
from sweephand.jobs.namespace_settings import NamespaceAdmin
from sweephand.jobs.on_demand import OnDemand
from sweephand.jobs.pause import Pauser
from sweephand.jobs.policies import PolicyRemover, PolicyWriter
from sweephand.jobs.policy_check import PoliciesOff, PolicyCheck
from sweephand.jobs.policy_reader import PolicyReader
from sweephand.jobs.quotas import Quotas
from sweephand.jobs.read import Reader
from sweephand.jobs.resume import Resumer
from sweephand.jobs.settings_cache import CachedSettings, JobDefaults, NoSettings
from sweephand.jobs.windows import WindowAdmin
from sweephand.jobs.write import Writer
from sweephand.jobs.write_check import SecretCheck
from sweephand.runs.attempt import Signing
from sweephand.runs.batch_progress import BatchProgress
from sweephand.runs.batch_reads import BatchReader
from sweephand.runs.bulk_runs import BulkRuns
from sweephand.runs.callbacks import Callbacks, RunSecrets
from sweephand.runs.delivery_stats import StatsReader
from sweephand.runs.explain.explainer import Explainer, ExplainStores
from sweephand.runs.flagged import FlaggedRuns
from sweephand.runs.flagged_list import FlaggedList
from sweephand.runs.health import HealthReader
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.runs.overview import Overview
from sweephand.runs.rebuild import Rebuilder
from sweephand.runs.redrive import Redriver
from sweephand.runs.requeue import Requeue
from sweephand.runtime.compose_rare import compose_gates
from sweephand.runtime.compose_upkeep import compose_auditor
from sweephand.runtime.machine import write_concurrently
from sweephand.runtime.settings import Options
from sweephand.runtime.stores import Stores
from sweephand.web.http.operation import Services
from sweephand.wheel.arm import ShardCount


def compose_api(
    stores: Stores,
    options: Options,
    *,
    signing: Signing | None = None,
    shard_count: Callable[[], int] | None = None,
    concurrently: Concurrently = write_concurrently,
) -> Services:
    """The use cases over these stores. Tests set what follows `options`."""
    jobs, queue, payloads, changes = stores.jobs, stores.queue, stores.payloads, stores.changes
    clock, ids = stores.clock, stores.ids
    history = ChangeHistory(jobs=jobs, changes=changes)
    flagged_runs = FlaggedRuns(stores.runs, stores.flags)

    # What a namespace sets for its jobs.
    settings = CachedSettings(namespaces=stores.namespaces, clock=clock)
    obeyed_settings = settings if options.limits_namespaces else NoSettings()
    defaults = JobDefaults(obeyed_settings, options.reach)
    quotas = Quotas(namespaces=stores.namespaces, limits=obeyed_settings, clock=clock, ids=ids)
    calendar_check = CalendarCheck(stores.calendars.get)
    secret_check = SecretCheck(stores.named_secrets.get_many)
    signing_keys = SigningKeys(secrets=stores.secrets, ids=ids, clock=clock)

    windows = WindowAdmin(namespaces=stores.namespaces, clock=clock, ids=ids)

    # A stack without flow policies still removes those that it has.
    has_policies = options.flow_functions_max > 0
    policy_check = PolicyCheck(stores.policies.get) if has_policies else PoliciesOff()
    policy_reader = PolicyReader(
        policies=stores.policies,
        gates=stores.gates,
        lines=stores.gate_lines,
        functions_max=options.flow_functions_max,
        concurrently=concurrently,
    )
    policy_writer = (
        PolicyWriter(
            policies=stores.policies,
            is_in_use=lambda policy: policy_reader.is_in_use(policy, clock.now()),
            changes=changes,
            flow_queue=stores.flow_queue,
            clock=clock,
            ids=ids,
        )
        if has_policies
        else PolicyRemover(
            policies=stores.policies, changes=changes, flow_queue=stores.flow_queue, clock=clock, ids=ids
        )
    )

    # Writes of jobs.
    shards = shard_count or ShardCount(leases=stores.leases, clock=clock, shards=options.shards)
    commits = Commits(
        jobs=jobs, changes=changes, timers=stores.timers, queue=queue, payloads=payloads, clock=clock
    )
    expiry = JobExpiry(jobs=jobs, runs=stores.runs, lines=stores.lines, clock=clock, ids=ids)
    writer = Writer(
        jobs=jobs,
        changes=changes,
        commits=commits,
        policies=policy_check,
        calendars=calendar_check,
        defaults=defaults,
        secrets=secret_check,
        quotas=quotas,
        clock=clock,
        ids=ids,
        shards=shards,
    )
    requeue = Requeue(queue=queue, timers=lambda: stores.timers, payloads=payloads, clock=clock)
    pauser = Pauser(jobs=jobs, changes=changes, send_at=requeue.send_at, clock=clock, ids=ids)
    resumer = Resumer(jobs=jobs, runs=flagged_runs, changes=history, commits=commits, expiry=expiry, ids=ids)

    # What callers do with runs.
    callbacks = Callbacks(
        jobs=jobs,
        runs=flagged_runs,
        overlap_queue=OverlapQueue(lines=stores.lines, runs=flagged_runs, queue=queue, clock=clock, ids=ids),
        expiry=expiry,
        flow=compose_gates(stores),
        progress=BatchProgress(batches=stores.batches, jobs=jobs, queue=queue, clock=clock),
        secrets=RunSecrets(
            signing=signing or signing_keys,
            read=SecretReader(secrets=stores.named_secrets, clock=clock).active,
            default_target=defaults.target,
        ),
        queue=queue,
        clock=clock,
        ids=ids,
    )
    redriver = Redriver(jobs=jobs, runs=stores.runs, queue=queue, payloads=payloads, clock=clock)
    flagged = FlaggedList(flags=stores.flags, runs=stores.runs, jobs=jobs)
    stats = StatsReader(stats=stores.stats if options.counts_deliveries else None, clock=clock)

    return Services(
        writer=writer,
        bulk_writer=BulkWriter(
            jobs=jobs,
            writer=writer,
            commits=commits,
            quotas=quotas,
            ids=ids,
            shards=shards,
            concurrently=concurrently,
        ),
        pauser=pauser,
        resumer=resumer,
        bulk=Bulk(
            jobs=jobs,
            pauser=pauser,
            resumer=resumer,
            writer=writer,
            clock=clock,
            concurrently=concurrently,
        ),
        changes=history,
        on_demand=OnDemand(jobs=jobs, queue=queue, payloads=payloads, clock=clock, ids=ids, quotas=quotas),
        reader=Reader(jobs=jobs, runs=stores.runs, payloads=payloads, policies=policy_check, clock=clock),
        forecaster=Forecaster(jobs=jobs, clock=clock),
        runs=stores.runs,
        flagged=flagged,
        health=HealthReader(
            jobs=jobs, runs=stores.runs, flags=stores.flags, clock=clock, concurrently=concurrently
        ),
        explainer=Explainer(
            ExplainStores(
                jobs=jobs,
                changes=history,
                runs=stores.runs,
                lines=stores.lines,
                timers=stores.timers,
                leases=stores.leases,
                history=stores.wheel_history,
                allowances=stores.allowances,
                policies=policy_check,
                calendars=stores.calendars,
                windows=windows.all,
            )
        ),
        stats=stats,
        batches=BatchReader(
            batches=stores.batches, jobs=jobs, runs=stores.runs, changes=history, policies=policy_check
        ),
        lines=stores.lines,
        callbacks=callbacks,
        redriver=redriver,
        overview=Overview(
            flagged=flagged,
            jobs=jobs,
            policies=policy_reader,
            stats=stats,
            clock=clock,
            concurrently=concurrently,
        ),
        bulk_runs=BulkRuns(
            flagged=flagged,
            redriver=redriver,
            cancel=callbacks.cancel,
            clock=clock,
            concurrently=concurrently,
        ),
        rebuilder=Rebuilder(
            jobs=jobs,
            changes=changes,
            runs=stores.runs,
            timers=stores.timers,
            leases=stores.leases,
            namespaces=stores.namespaces,
            queue=queue,
            payloads=payloads,
            clock=clock,
        ),
        auditor=compose_auditor(stores),
        policy_writer=policy_writer,
        policy_reader=policy_reader,
        policy_changes=PolicyChangeHistory(policies=stores.policies, changes=changes),
        calendars=CalendarAdmin(calendars=stores.calendars, jobs=jobs, queue=queue, clock=clock, ids=ids),
        calendar_check=calendar_check,
        namespaces=NamespaceAdmin(
            namespaces=stores.namespaces,
            quotas=quotas,
            settings=settings,
            secrets=secret_check,
            clock=clock,
            ids=ids,
        ),
        windows=windows,
        schedule_groups=ScheduleGroups(groups=stores.schedule_groups, clock=clock, ids=ids),
        defaults=defaults,
        keys=stores.keys,
        admin_changes=stores.admin_changes,
        rates=RequestRates(stores.allowances),
        signing=signing_keys,
        secrets=SecretAdmin(secrets=stores.named_secrets, clock=clock, ids=ids),
        leases=stores.leases,
        clock=clock,
        ids=ids,
        reach=options.reach,
        auth=options.auth,
    )
