"""Whether everything that was promised was kept, judged from a trace alone.

Written from the design's protocol and semantics. It shares no code with what it judges, not even its
constants or its reading of a schedule: the numbers it rests on stand beside the checks that use them.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final

from tests.simulation import (
    judging_bulk,
    judging_ends,
    judging_fairness,
    judging_jobs,
    judging_leaving,
    judging_overlap,
    judging_patience,
    judging_queues,
    judging_removal,
    judging_reports,
    judging_requests,
    judging_runs,
    judging_times,
    judging_wheel,
)
from tests.simulation.tale import Tale
from tests.simulation.trace import Event

Check = Callable[[Tale], Iterator[str]]

#: Every check, each with its promise in its docstring; first those whose complaint tells most.
CHECKS: Final[tuple[Check, ...]] = (
    judging_requests.nothing_is_lost,
    judging_requests.what_was_asked_for_leaves,
    judging_requests.nothing_is_early,
    judging_requests.only_what_is_owed_is_requested,
    judging_requests.nothing_begins_after_a_cancel,
    judging_requests.skipped_misfires_stay_skipped,
    judging_requests.skipped_misfires_are_recorded,
    judging_requests.triggers_have_one_identity,
    judging_requests.repeats_are_exact,
    judging_requests.data_is_of_the_present,
    judging_requests.nothing_comes_twice_in_calm,
    judging_jobs.acknowledged_writes_stand,
    judging_jobs.nobody_is_refused_for_his_own_write,
    judging_jobs.a_deletion_removes_one_job,
    judging_jobs.cuts_are_sound,
    judging_jobs.reigns_begin_where_they_should,
    judging_jobs.pauses_are_kept,
    judging_jobs.jitter_is_stable,
    judging_times.no_time_fires_twice,
    judging_times.no_time_is_left_out,
    judging_bulk.bulk_calls_leave_none_out,
    judging_bulk.bulk_calls_touch_no_other,
    judging_bulk.bulk_calls_count,
    judging_bulk.bulk_calls_move_on,
    judging_leaving.only_who_wants_to_goes,
    judging_leaving.nobody_goes_before_the_last_run_is_over,
    judging_leaving.who_wants_to_goes,
    judging_removal.what_is_over_does_not_come_back,
    judging_removal.jobs_stay_while_they_owe,
    judging_removal.jobs_stay_for_their_retention,
    judging_removal.lines_stay_while_somebody_waits,
    judging_removal.records_stay,
    judging_wheel.cursors_move_on,
    judging_wheel.cursors_reach_what_is_due,
    judging_wheel.timers_lie_beyond_sweeps,
    judging_wheel.chains_live,
    judging_wheel.chains_end,
    judging_fairness.shards_take_turns,
    judging_fairness.what_is_due_is_reached_before,
    judging_runs.run_states_are_legal,
    judging_runs.attempts_never_decrease,
    judging_runs.attempts_follow_one_another,
    judging_runs.later_attempts_have_one_holder,
    judging_runs.dead_letters_have_a_reason,
    judging_runs.every_trigger_ends,
    judging_runs.runs_end_with_their_job,
    judging_reports.every_end_has_a_cause,
    judging_reports.no_run_hangs,
    judging_reports.claims_end,
    judging_reports.acknowledged_reports_stand,
    judging_reports.first_report_rules,
    judging_reports.who_goes_on_is_not_refused,
    judging_reports.tokens_are_of_one_attempt,
    judging_queues.what_is_asked_for_again_arrives,
    judging_ends.cancelled_runs_stay_cancelled,
    judging_ends.only_redrives_take_up_what_failed,
    judging_ends.redrives_are_attempted,
    judging_ends.what_was_asked_with_stays,
    judging_ends.every_end_is_told,
    judging_ends.only_ends_are_told,
    judging_ends.ends_have_one_identity,
    judging_ends.on_error_is_heeded,
    judging_overlap.runs_take_turns,
    judging_overlap.what_is_skipped_never_leaves,
    judging_overlap.skips_have_their_reason,
    judging_overlap.turns_come_in_order,
    judging_overlap.lines_are_bounded,
    judging_patience.who_waits_goes_promptly,
    judging_patience.what_is_owed_no_more_leaves,
    judging_patience.by_hand_passes_a_pause,
)


def judge(events: Sequence[Event], *, through: int, calm_at: int | None = None) -> list[str]:
    """What was promised and not kept, a sentence each; empty if all was kept.

    Everything owed with a due time up to `through` must have had calm time to be delivered. From `calm_at`
    on nothing goes wrong any more: then each trigger has to leave exactly once.
    """
    tale = Tale(events, through, calm_at)
    return list(chain.from_iterable(check(tale) for check in CHECKS))
