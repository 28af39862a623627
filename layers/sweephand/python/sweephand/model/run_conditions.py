"""What each write of a run asks of the run that is stored: made of the table, the same for every store."""

from collections.abc import Mapping
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.run import Run
from sweephand.model.run_states import (
    BEGINNINGS,
    TABLE,
    State,
    sources,
)


class Guard(NamedTuple):
    """One condition under which a write is granted.

    The stored run is in one of `states`, its fields are equal to those in `same` (None: it has none), its
    attempt is before `attempts_below`, and its claim is over at `claim_over_at`, where these are given.
    """

    states: frozenset[State]
    same: Mapping[str, str | int | None]
    attempts_below: int | None = None
    claim_over_at: Instant | None = None

    def admits(self, stored: Run) -> bool:
        """Whether the stored run fulfils all of it."""
        is_over = self.claim_over_at is None or (
            stored.claimed_until is not None and stored.claimed_until <= self.claim_over_at
        )
        return (
            stored.state in self.states
            and all(getattr(stored, name) == value for name, value in self.same.items())
            and (self.attempts_below is None or stored.attempts < self.attempts_below)
            and is_over
        )


class Asked(NamedTuple):
    """What a write asks: that one guard admits what is stored, or that there is nothing, if `may_begin`."""

    may_begin: bool
    guards: tuple[Guard, ...]

    def grants(self, stored: Run | None) -> bool:
        """Whether the write may be made over what is stored."""
        return self.may_begin if stored is None else any(guard.admits(stored) for guard in self.guards)


def asked_by_claim(run: Run, now: Instant) -> Asked:
    """What the claim of an attempt asks for at `now` (ports.RunStore.claim)."""
    assert run.state == "claimed", "only a claim is claimed"
    assert run.owner, "a claim has a holder"
    later = Guard(sources("claimed", "attempt"), {}, attempts_below=run.attempts)
    # The token of an attempt stays with it: its consumer may have it already.
    same_attempt: dict[str, str | int | None] = {"attempts": run.attempts, "token": run.token}
    takeover = Guard(sources("claimed", "takeover"), same_attempt, claim_over_at=now)
    guards = [later, takeover]
    if run.is_redriven and run.attempts == run.round_from:
        guards.append(Guard(sources("claimed", "redrive"), {"attempts": run.attempts - 1}))
    return Asked(may_begin=True, guards=tuple(guards))


def asked_by_record(run: Run) -> Asked:
    """What the record of an attempt asks for (ports.RunStore.record)."""
    assert run.owner, "a record has an author"
    states = sources(run.state, "record")
    same: dict[str, str | int | None] = {"attempts": run.attempts}
    # If it needed no claim, whoever has one of this attempt died over it: its job has changed since.
    if run.claimed_until is None:
        return Asked(run.state in BEGINNINGS, (Guard(states, same),))
    same["owner"] = run.owner
    # A claim has no version, until its holder or its consumer records that the attempt has failed.
    guards = [Guard(states, {**same, "version": None})]
    if run.version is not None:
        guards.append(Guard(states, {**same, "version": run.version}))
    return Asked(run.state in BEGINNINGS, tuple(guards))


def asked_by_release(run: Run) -> Asked:
    """What the release of a claim asks for (ports.RunStore.release)."""
    assert run.state == "claimed", "only a claim is released"
    same: dict[str, str | int | None] = {"attempts": run.attempts, "owner": run.owner, "version": run.version}
    return Asked(may_begin=True, guards=(Guard(frozenset({run.state}), same),))


def asked_by_move(run: Run, seen: Run) -> Asked:
    """What a move from the run that was read asks for (ports.RunStore.move)."""
    assert "move" in TABLE[seen.state].get(run.state, ()), f"{seen.state} is not left for {run.state} so"
    assert run.version, "a move has a token"
    unchanged: dict[str, str | int | None] = {
        "attempts": seen.attempts,
        "owner": seen.owner,
        "version": seen.version,
    }
    return Asked(may_begin=False, guards=(Guard(frozenset({seen.state}), unchanged),))


def shows(stored: Run, written: Run) -> bool:
    """Whether what is stored is that very write, whose answer was lost."""
    return (stored.state, stored.attempts, stored.owner, stored.version) == (
        written.state,
        written.attempts,
        written.owner,
        written.version,
    )
