"""Every value that an item holds, with each of its fields missing, unknown, mistyped and oversized."""

from contextlib import suppress
from typing import Any, Final

import pytest
from tests.contract.builders import NOON, admin_change, batch_timer, job, large_payload, policy, run, secrets

from sweephand.base.errors import FormError
from sweephand.base.layouts import Layout
from sweephand.model.batch_mark import BatchName, BatchSize
from sweephand.model.batch_progress import BatchHead
from sweephand.model.change import Change, FieldChange, Former
from sweephand.model.definition import CatchUpPolicy, Definition
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.job import PauseEnd, Revision
from sweephand.model.namespace import AllowedTargets, NamespaceDefaults, NamespaceLimits, NamespaceSettings
from sweephand.model.policy import Breaker, PermitName, Rate
from sweephand.model.run import Flag
from sweephand.model.run_id import Counts, Demand, RunName
from sweephand.model.secret import Secret, SecretKey, SigningSecret
from sweephand.model.timer import Heartbeat
from sweephand.model.trace import Origin
from sweephand.model.trigger import BatchPlace, Failure
from sweephand.model.wheel_event import WheelEvent
from sweephand.model.window import Window, Windows
from sweephand.runs.audit_findings import AuditRound, JobProgress
from sweephand.storage import (
    audit_rounds,
    batches,
    changes,
    jobs,
    leases,
    namespaces,
    policies,
    runs,
    signing_secrets,
    timers,
)
from sweephand.storage.item import StoredItem, fields_of

ORIGIN: Final = Origin(f"00-{'a' * 32}-{'b' * 16}-01", is_parent=True)
DEMAND: Final = Demand("chained", "token", 2, ORIGIN)
BATCH: Final = BatchPlace(9, 60_000, 1, is_counted=False)
CHANGE: Final = Change(
    NOON,
    "who",
    "patched",
    "version000000001",
    "\ud800",
    (FieldChange("schedule", (None, "@daily")), FieldChange("target")),
    Former("1-aaaa", job().series, CatchUpPolicy("none", 1), 60_000),
    NOON,
)
WINDOW: Final = Window("w", "v", job().series, 1, NOON, "owner", "skip", 2, "a", {"b": "c"})
VALUES: Final = (SigningSecret("whsec_a", NOON, NOON + 1), SigningSecret("whsec_b", NOON))

#: Each layout of an item, and a value of it that has no field with its default.
STORED: Final[dict[str, tuple[Layout[Any], Any]]] = {
    "run": (
        runs._RUN,
        run(
            started_at=NOON,
            ended_at=NOON,
            lateness_ms=-1,
            next_attempt_at=NOON,
            response_code=503,
            answer="\ud800",
            reason="no",
            owner="owner",
            claimed_until=NOON,
            expires_at=NOON,
            round_from=2,
            round_at=NOON,
            round_ends=(1,),
            version="v",
            count=2,
            last_due_at=NOON,
            token="t",
            heartbeat_ms=1,
            heartbeat_by=NOON,
            run_until=NOON,
            demand=DEMAND,
            payload=large_payload()._replace(text=None, kept_until=NOON),
            result="[1]",
            last_failure=Failure(1, "no", 503, is_final=True),
            next_check_at=NOON,
            batch=BATCH,
            permit=PermitName("mailer", 1, "id", "job:a"),
            skipped_for="1-0",
            origin=ORIGIN,
            held_ms=1,
            held_until=NOON,
            attempt_at=NOON,
            failed_attempts=(FailedAttempt(1, NOON, 5, 503, "no"),),
        ),
    ),
    "timer": (
        timers.OCCURRENCE_TIMER,
        batch_timer(3)._replace(
            catchup=CatchUpPolicy("all", 1),
            followed_at=NOON,
            put_off_to=NOON,
            demand=DEMAND,
            payload=large_payload()._replace(text=None),
            may_be_repeated=True,
            judged_at=NOON,
        ),
    ),
    "job": (
        jobs._JOB,
        job(
            earlier=(Revision("1-a", -1, NOON), Revision("2-a", NOON, NOON + 1)),
            definition=Definition({"labels": {}}, large_payload()._replace(text=None)),
            paused_at=NOON,
            pause_reason="why",
            expires_at=NOON,
            change=CHANGE,
            resumed_at=NOON,
            counted_in=1,
            has_batches=True,
            late_until=NOON,
            origin=ORIGIN,
            pause_end=PauseEnd(NOON, "none"),
        ),
    ),
    "head of a batch": (
        batches._HEAD,
        BatchHead(
            BatchName(job().key, "uid", NOON, DEMAND), BatchSize(9, 0), NOON, Counts(1), True, NOON, NOON
        ),
    ),
    "flag": (runs._FLAG, Flag(job().key, "uid", RunName(NOON, 1, DEMAND))),
    "change": (changes.CHANGE, CHANGE),
    "filed change": (changes._FILED, CHANGE._replace(uid="uid")),
    "policy": (
        policies._POLICY,
        policy(
            concurrent_max=3,
            rate=Rate(1, 2),
            deleted_at=NOON,
            paused_at=NOON,
            pause_reason="\ud800",
            change=CHANGE,
            by="host",
            breaker=Breaker(3, 60_000),
            failed=2,
            failing_since=NOON,
            broken_at=NOON,
            probe="probe",
            probe_at=NOON,
        ),
    ),
    "change by an admin": (
        changes._ADMIN_CHANGE,
        admin_change()._replace(fields=(FieldChange("role", ("read", "write")),), reason="why"),
    ),
    "signing secrets": (signing_secrets._SECRETS, secrets()._replace(secrets=VALUES)),
    "secret": (signing_secrets._NAMED_SECRET, Secret(SecretKey("ns", "name"), "v", NOON, NOON, VALUES)),
    "settings": (
        namespaces._SETTINGS,
        NamespaceSettings(
            "ns",
            "v",
            NamespaceLimits(1, 2, 3),
            NOON,
            "owner",
            NamespaceDefaults({}, {}),
            AllowedTargets(("a",), ("b",)),
        ),
    ),
    "windows": (namespaces._WINDOWS, Windows("ns", "v", (WINDOW,), NOON)),
    "window": (namespaces._WINDOW, WINDOW),
    "heartbeat": (leases._HEARTBEAT, Heartbeat(NOON, NOON, 60, NOON)),
    "event of the wheel": (leases._EVENT, WheelEvent("limit", NOON, NOON, 60)),
    "round of the audit": (
        audit_rounds._ROUND,
        AuditRound(NOON, JobProgress("ns", "job", "1", "2"), NOON, "v"),
    ),
}

#: No attribute may be one of these, whatever its kind.
WRONG: Final[tuple[dict[str, Any], ...]] = (
    {"S": '"' + "x" * 5_000 + '"'},
    {"N": "1.5"},
    {"N": "99999999999999999999"},
    {"B": b""},
    {"BOOL": True},
    {"L": []},
)

#: Nor may one that holds JSON be one of these. A name may.
WRONG_JSON: Final[tuple[dict[str, Any], ...]] = ({"S": "null"}, {"S": "{"}, {"S": "-1"})


def raw_of(name: str) -> dict[str, Any]:
    """The item of that value as it is stored, without its key."""
    layout, value = STORED[name]
    raw = StoredItem("pk", "sk", layout, value).serialize()
    return {name: typed for name, typed in raw.items() if name not in {"pk", "sk"}}


@pytest.mark.parametrize("name", STORED)
def test_an_item_has_an_attribute_for_each_field_and_unknown_ones_are_ignored(name: str) -> None:
    layout, value = STORED[name]
    raw = raw_of(name)
    assert raw.keys() == {each.stored for each in layout.fields}
    read = fields_of(layout, raw)
    for field, found in read.items():
        # The names of some parts lie in the key.
        assert found == getattr(value, field) or isinstance(found, dict), field
    assert fields_of(layout, raw | {"later": {"M": {}}}) == read


@pytest.mark.parametrize("name", STORED)
def test_a_field_that_is_missing_has_its_default_or_is_refused(name: str) -> None:
    layout, _ = STORED[name]
    raw = raw_of(name)
    read = fields_of(layout, raw)
    for field in raw:
        for without in (
            {each: typed for each, typed in raw.items() if each != field},
            raw | {field: {"NULL": True}},
        ):
            with suppress(FormError):
                assert fields_of(layout, without) != read, field


@pytest.mark.parametrize("name", STORED)
def test_a_mistyped_or_oversized_field_is_refused_by_its_name(name: str) -> None:
    layout, _ = STORED[name]
    raw = raw_of(name)
    for field in layout.fields:
        for wrong in (*WRONG, *(WRONG_JSON if field.form.kind == "json" else ())):
            with pytest.raises(FormError, match=f"`{field.stored}` must be"):
                fields_of(layout, raw | {field.stored: wrong})
