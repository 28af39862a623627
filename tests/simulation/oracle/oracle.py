"""Judges from a trace alone whether every promise was kept.

It is written from the design's protocol and semantics. It shares no code with what it judges, not even
constants or the reading of a schedule. The numbers that it needs are beside the checks that use them.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final

from tests.simulation.oracle import (
    batches,
    batches_over,
    bulk,
    bulk_writes,
    calendars,
    chains,
    claims,
    ends,
    jobs,
    leaving,
    overlap,
    patience,
    removal,
    reports,
    requests,
    runs,
    stack,
    times,
    watch,
    wheel,
    windows,
)
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Event

Check = Callable[[Tale], Iterator[str]]

#: Every check, with its promise in its docstring. Those with the most useful complaints come first.
CHECKS: Final[tuple[Check, ...]] = (
    requests.nothing_is_lost,
    requests.what_was_asked_for_leaves,
    requests.nothing_is_early,
    requests.only_what_is_owed_is_requested,
    requests.nothing_begins_after_a_cancel,
    requests.skipped_misfires_stay_skipped,
    requests.skipped_misfires_are_recorded,
    requests.triggers_have_one_identity,
    requests.repeats_are_exact,
    requests.data_is_of_the_present,
    requests.nothing_comes_twice_in_calm,
    batches.no_index_is_lost,
    batches.no_index_is_beyond,
    batches.batches_by_hand_are_whole,
    batches_over.progress_shows_what_is_over,
    batches_over.marks_have_a_cause,
    batches_over.marks_move_on,
    batches_over.batches_end_after_their_last_run,
    batches_over.every_batch_ends,
    batches_over.every_batch_end_is_told,
    batches_over.only_batch_ends_are_told,
    jobs.acknowledged_writes_stand,
    jobs.nobody_is_refused_for_his_own_write,
    jobs.a_deletion_removes_one_job,
    jobs.cuts_are_sound,
    jobs.reigns_begin_where_they_should,
    jobs.pauses_are_kept,
    jobs.pauses_end_by_themselves,
    jobs.jitter_is_stable,
    times.no_time_fires_twice,
    times.no_time_is_left_out,
    calendars.jobs_follow,
    calendars.follows_have_a_cause,
    calendars.no_day_fires_twice,
    calendars.no_day_is_left_out,
    bulk.bulk_calls_leave_none_out,
    bulk.bulk_calls_touch_no_other,
    bulk.bulk_calls_count,
    bulk.bulk_calls_move_on,
    bulk_writes.acknowledged_entries_stand,
    bulk_writes.refused_entries_leave_nothing,
    bulk_writes.entries_are_judged_alone,
    bulk_writes.failures_cost_one_job_each,
    bulk_writes.creations_replace_no_job,
    leaving.only_who_wants_to_goes,
    leaving.nobody_goes_before_the_last_run_is_over,
    leaving.who_wants_to_goes,
    removal.what_is_over_does_not_come_back,
    removal.jobs_stay_while_they_owe,
    removal.jobs_stay_for_their_retention,
    removal.lines_stay_while_somebody_waits,
    removal.records_stay,
    wheel.cursors_move_on,
    wheel.cursors_reach_what_is_due,
    wheel.timers_lie_beyond_sweeps,
    wheel.chains_live,
    wheel.chains_end,
    wheel.chains_are_single,
    stack.shards_take_turns,
    stack.what_is_due_is_reached_before,
    stack.nothing_goes_while_off,
    stack.what_is_high_is_prompt,
    stack.no_more_triggers_leave_than_allowed,
    runs.run_states_are_legal,
    runs.attempts_never_decrease,
    runs.attempts_follow_one_another,
    runs.later_attempts_have_one_holder,
    patience.no_retry_is_older_than_it_may_be,
    patience.only_what_is_too_old_is_given_up_for_it,
    runs.dead_letters_have_a_reason,
    runs.crashing_triggers_end,
    runs.every_trigger_ends,
    runs.runs_end_with_their_job,
    reports.every_end_has_a_cause,
    reports.no_run_hangs,
    claims.claims_end,
    reports.acknowledged_reports_stand,
    reports.first_report_rules,
    reports.who_goes_on_is_not_refused,
    reports.late_reports_are_refused,
    reports.tokens_are_of_one_attempt,
    claims.what_is_asked_for_again_arrives,
    ends.cancelled_runs_stay_cancelled,
    ends.only_redrives_take_up_what_failed,
    ends.redrives_are_attempted,
    ends.what_was_asked_with_stays,
    ends.every_end_is_told,
    ends.ends_are_told_soon_in_calm,
    ends.only_ends_are_told,
    ends.ends_have_one_identity,
    ends.on_error_is_heeded,
    chains.chains_of_jobs_are_bounded,
    windows.nothing_begins_in_a_window,
    windows.only_windows_skip,
    windows.what_is_held_is_spread,
    watch.what_is_missed_is_told,
    watch.only_what_is_missed_is_told,
    watch.no_alert_is_early,
    watch.alerts_have_one_identity,
    watch.alerts_come_once_in_calm,
    watch.watches_live,
    overlap.runs_take_turns,
    overlap.what_is_skipped_never_leaves,
    overlap.skips_have_their_reason,
    overlap.turns_come_in_order,
    overlap.lines_are_bounded,
    patience.who_waits_goes_promptly,
    patience.what_is_owed_no_more_leaves,
    patience.by_hand_passes_a_pause,
)


def judge(events: Sequence[Event], *, through: int, calm_at: int | None = None) -> list[str]:
    """Return a sentence for each promise that was not kept.

    Every trigger that is owed with a due time up to `through` must have had calm time to be delivered. From
    `calm_at` on no fault happens: then each trigger has to leave exactly once.
    """
    return judged(Tale(events, through, calm_at))


def judged(tale: Tale) -> list[str]:
    """Return the same of a tale, whose jobs are then known."""
    return list(chain.from_iterable(check(tale) for check in CHECKS))
