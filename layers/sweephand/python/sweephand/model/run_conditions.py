"""The condition of each write of a run, made from the table of states. Every store uses the same ones."""

from collections.abc import Mapping
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.run import Run
from sweephand.model.run_states import (
    INITIAL_STATES,
    TRANSITIONS,
    State,
    sources,
)


class Guard(NamedTuple):
    """One condition under which a write is allowed.

    The stored run is in one of `states`. Each of its fields named in `same` has that value (None: the field
    is absent). If given, its attempt is less than `attempts_below`, and its claim is over at `claim_over_at`.
    """

    states: frozenset[State]
    same: Mapping[str, str | int | None]
    attempts_below: int | None = None
    claim_over_at: Instant | None = None

    def admits(self, stored: Run) -> bool:
        """Whether the stored run fulfils the whole condition."""
        is_over = self.claim_over_at is None or (
            stored.claimed_until is not None and stored.claimed_until <= self.claim_over_at
        )
        return (
            stored.state in self.states
            and all(getattr(stored, name) == value for name, value in self.same.items())
            and (self.attempts_below is None or stored.attempts < self.attempts_below)
            and is_over
        )


class WriteCondition(NamedTuple):
    """When a write is allowed: if a guard admits the stored run, or if none is stored and `may_begin`."""

    may_begin: bool
    guards: tuple[Guard, ...]

    def grants(self, stored: Run | None) -> bool:
        """Whether the write is allowed over the stored run (None: no run is stored)."""
        return self.may_begin if stored is None else any(guard.admits(stored) for guard in self.guards)


def claim_condition(run: Run, now: Instant) -> WriteCondition:
    """The condition of a claim of an attempt at `now` (ports.RunStore.claim)."""
    assert run.state == "claimed", "only a claim is claimed"
    assert run.owner, "a claim has a holder"
    later_attempt = Guard(sources("claimed", "attempt"), {}, attempts_below=run.attempts)
    # An attempt keeps its token when another holder takes it over, because its consumer may have the token.
    same_attempt: dict[str, str | int | None] = {"attempts": run.attempts, "token": run.token}
    takeover = Guard(sources("claimed", "takeover"), same_attempt, claim_over_at=now)
    guards = [later_attempt, takeover]
    if run.is_redriven and run.attempts == run.round_from:
        guards.append(Guard(sources("claimed", "redrive"), {"attempts": run.attempts - 1}))
    return WriteCondition(may_begin=True, guards=tuple(guards))


def record_condition(run: Run) -> WriteCondition:
    """The condition of the record of an attempt (ports.RunStore.record)."""
    assert run.owner, "a record has an author"
    states = sources(run.state, "record")
    same: dict[str, str | int | None] = {"attempts": run.attempts}
    # This attempt needed no claim, so the job has changed since a holder claimed it. That holder has crashed.
    if run.claimed_until is None:
        return WriteCondition(run.state in INITIAL_STATES, (Guard(states, same),))
    same["owner"] = run.owner
    # A claim has no version until its holder or its consumer records that the attempt failed.
    guards = [Guard(states, {**same, "version": None})]
    if run.version is not None:
        guards.append(Guard(states, {**same, "version": run.version}))
    return WriteCondition(run.state in INITIAL_STATES, tuple(guards))


def release_condition(run: Run) -> WriteCondition:
    """The condition of the release of a claim (ports.RunStore.release)."""
    assert run.state == "claimed", "only a claim is released"
    same: dict[str, str | int | None] = {"attempts": run.attempts, "owner": run.owner, "version": run.version}
    return WriteCondition(may_begin=True, guards=(Guard(frozenset({run.state}), same),))


def move_condition(run: Run, seen: Run) -> WriteCondition:
    """The condition of a move from the run `seen` that was read (ports.RunStore.move)."""
    assert "move" in TRANSITIONS[seen.state].get(run.state, ()), f"no move from {seen.state} to {run.state}"
    assert run.version, "a move has a token"
    unchanged: dict[str, str | int | None] = {
        "attempts": seen.attempts,
        "owner": seen.owner,
        "version": seen.version,
    }
    return WriteCondition(may_begin=False, guards=(Guard(frozenset({seen.state}), unchanged),))


def is_same_write(stored: Run, written: Run) -> bool:
    """Whether the stored run is this very write, so that an earlier try of it was applied."""
    return (stored.state, stored.attempts, stored.owner, stored.version) == (
        written.state,
        written.attempts,
        written.owner,
        written.version,
    )
