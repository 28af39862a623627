"""Hypothesis strategies for the bodies that callers send: jobs, nearly jobs, and any JSON."""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from tests.fakes.http_events import TARGET

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
DURATIONS = st.from_regex(
    r"[-+]?[0-9]{0,3}(ms|s|m|h|d|ns)?|P[0-9]{1,3}[DMYW]|PT[0-9]{1,9}[HMS]", fullmatch=True
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "schedule": ANYTHING
    | st.from_regex(
        r"@every [0-9]{1,12}(s|m|h|ms)|@[a-z]{1,8}|([0-9*/,?LW#-]{1,6} ){4,6}[0-9*]", fullmatch=True
    ),
    "timezone": ANYTHING | st.sampled_from(["UTC", "Europe/Paris", "europe/paris", "", "/", "a\x00b"]),
    "dueTime": ANYTHING | DURATIONS,
    "ttl": ANYTHING | DURATIONS,
    "repeats": ANYTHING | st.integers(-1, 10**20),
    "target": ANYTHING
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["http", "sqs"]) | ANYTHING},
        optional={
            "url": ANYTHING | st.text().map(lambda text: f"https://{text}"),
            "queueUrl": ANYTHING | st.text().map(lambda text: f"https://sqs.eu-west-1.amazonaws.com/{text}"),
            "headers": ANYTHING | st.dictionaries(st.text(), st.text()),
            "timeout": ANYTHING | DURATIONS,
            "method": ANYTHING,
            "messageGroupId": ANYTHING,
        },
    )
    | st.just(TARGET),
    "data": ANYTHING,
    "retry": ANYTHING
    | st.fixed_dictionaries(
        {},
        optional={
            "maxAttempts": ANYTHING,
            "maxAge": ANYTHING | DURATIONS,
            "initialDelay": ANYTHING | DURATIONS,
            "multiplier": ANYTHING | st.floats(0, 200),
            "maxDelay": DURATIONS,
        },
    ),
    "deadLetterQueue": ANYTHING,
    "history": ANYTHING | st.sampled_from(["outcome", "failures"]),
    "historyRetention": ANYTHING | DURATIONS,
    "retention": ANYTHING | DURATIONS,
    "labels": ANYTHING | st.dictionaries(st.text(), st.text()),
    "description": ANYTHING,
}
JOBS = st.fixed_dictionaries({}, optional=FIELDS)
NEARLY_JOBS = st.fixed_dictionaries(
    {"target": st.just(TARGET), "schedule": st.just("@every 1h") | FIELDS["schedule"]},
    optional={name: strategy for name, strategy in FIELDS.items() if name not in ("target", "schedule")},
)
NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,6})?", fullmatch=True)


# Each example makes a new world. On a busy machine that takes longer than Hypothesis allows.
SOME = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
