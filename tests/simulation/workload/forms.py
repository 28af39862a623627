"""What simulated clients write into a definition: schedules of every form, their ends, and catch-up rules."""

from typing import Any, Final

from sweephand.model.definition import CatchUpMode

#: Schedules that fire often.
DENSE: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "@every 7s"},
    {"schedule": "@every 17s"},
    {"schedule": "@every 23s"},
    {"schedule": "@every 61s"},
    {"schedule": "@every 61s", "dueTime": "30s"},
    {"schedule": "@every 61s", "dueTime": "239s"},
    {"schedule": "@every 121s"},
    {"schedule": "@every 290s"},
    {"schedule": "*/20 * * * * *"},
    {"schedule": "30 * * * * *", "timezone": "Europe/Paris"},
    {"schedule": "* * * * *"},
    {"schedule": "@every 5s"},
    {"schedule": "rate(1 minute)"},
    {"schedule": "R/PT47S"},
    {"schedule": "cron(* * * * ? *)"},
    {"schedule": {"second": "5,25"}, "timezone": "America/New_York"},
    {"schedule": "TZ=Asia/Kathmandu 0 */2 * * * *"},
    {"schedule": "@every 61s", "jitter": "1m"},
    {"schedule": "* * * * *", "jitter": "3m"},
)

#: Schedules that end, in every way, and one-offs near the border of 300 s.
BOUND: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "@every 23s", "repeats": 3},
    {"schedule": "@every 59s", "repeats": 7},
    {"schedule": "@every 23s", "ttl": "90s"},
    {"schedule": "@every 31s", "ttl": "400s"},
    {"schedule": "@every 41s", "dueTime": "310s", "ttl": "360s"},
    {"schedule": "@every 13s", "repeats": 4, "retention": "1m"},
    {"dueTime": "0s"},
    {"dueTime": "5s", "retention": "30s"},
    {"dueTime": "20s"},
    {"dueTime": "299s"},
    {"dueTime": "301s"},
    {"dueTime": "330s"},
    {"dueTime": "460s"},
    {"schedule": "R5/PT47S"},
    {"schedule": "R7/PT90S", "dueTime": "PT30S"},
    {"schedule": "rate(2 minutes)", "repeats": 4, "ttl": "PT1H"},
    {"dueTime": "20s", "jitter": "5m"},
)

#: Series that begin about as far ahead as a sweep reads. They are swept at any second of a minute.
MARGINAL: Final[tuple[dict[str, Any], ...]] = ({}, {"schedule": "@every 61s"}, {"schedule": "@every 121s"})

#: Whole seconds between the instants of a list, and their number. A list travels in parts of twenty.
LISTS: Final = ((7, 45), (31, 30), (120, 6))

#: Schedules for seeds that last for days.
SPARSE: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "@hourly"},
    {"schedule": "@every 50m"},
    {"schedule": "@every 1h30m"},
    {"schedule": "0 30 2 * * *", "timezone": "Europe/Paris"},
    {"schedule": "15 */6 * * *", "timezone": "America/New_York"},
    {"schedule": "0 0 9 * * MON-FRI", "timezone": "Australia/Lord_Howe"},
    {"schedule": "@daily"},
    {"schedule": "@every 7h", "repeats": 5},
    {"schedule": "@hourly", "ttl": "20h"},
    {"dueTime": "10h"},
    {"dueTime": "50h"},
    {"schedule": "0 30 1 * * *", "timezone": "Europe/Paris", "dst": {"overlap": "both", "gap": "skip"}},
    {"schedule": "45 1 * * *", "timezone": "Australia/Lord_Howe", "dst": {"overlap": "last"}},
    {"schedule": "cron(0 */8 ? * 2-6 *)", "timezone": "America/Santiago"},
    {"schedule": "@hourly", "jitter": "1h"},
    {"schedule": "R/P1D", "timezone": "Europe/Dublin"},
)

#: The rules for misfires.
CATCH_UPS: Final[tuple[dict[str, Any] | None, ...]] = (
    None,
    None,
    {"mode": "all"},
    {"mode": "none"},
    {"mode": "latest", "window": "5m"},
    {"mode": "none", "window": "10m"},
)

#: Retry rules. Retrying has to be over soon after the calm begins. Most delays are within the queue's reach,
#: and some need a timer.
RETRIES: Final[tuple[dict[str, Any], ...]] = (
    {"maxAttempts": 1},
    {"maxAttempts": 3, "initialDelay": "5s", "multiplier": 2},
    {"maxAttempts": 3, "initialDelay": "5s", "multiplier": 2},
    {"maxAttempts": 6, "initialDelay": "1s", "maxDelay": "20s"},
    {"maxAttempts": 4, "maxAge": "60s", "initialDelay": "20s"},
    {"maxAttempts": 2, "maxAge": "30s", "initialDelay": "5s"},
    {"maxAttempts": 2, "initialDelay": "32m"},
)

#: What a PATCH writes beside a label: nothing, a bound, a schedule, a limit of time.
PATCHES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {},
    {"repeats": 30},
    {"schedule": "@every 31s"},
    {"ttl": "10m"},
)

SPARSE_PATCHES: Final[tuple[dict[str, Any], ...]] = ({}, {}, {"repeats": 30}, {"schedule": "@every 4h"})

#: What an update changes of a job's timing beside its schedule. None removes a field.
RETIMINGS: Final[tuple[dict[str, Any], ...]] = (
    {"jitter": "30s"},
    {"jitter": "2m"},
    {"jitter": "5m"},
    {"jitter": None},
    {"jitter": None},
    {"dst": {"gap": "skip", "overlap": "both"}},
    {"dst": None},
    {"timezone": "Europe/Paris"},
    {"timezone": None},
    {"timezone": "Europe/Paris", "jitter": "3m"},
    {"timezone": None, "jitter": None},
    {"dueTime": "40s"},
    {"dueTime": None, "jitter": "1m"},
    {"repeats": 40},
    {"repeats": None},
)

#: The same for seeds that last for days.
SPARSE_RETIMINGS: Final[tuple[dict[str, Any], ...]] = (
    {"jitter": "1h"},
    {"jitter": "5h"},
    {"jitter": "20m"},
    {"jitter": None},
    {"jitter": None},
    {"dst": {"gap": "skip", "overlap": "both"}},
    {"dst": None},
    {"timezone": "Europe/Paris"},
    {"timezone": "Australia/Lord_Howe", "jitter": "2h"},
    {"timezone": None, "jitter": None},
    {"dueTime": "3h"},
    {"dueTime": None, "jitter": "1h"},
    {"repeats": 40},
    {"repeats": None},
)

#: The modes that a resume may ask for. None is the job's own mode.
MODES: Final[tuple[CatchUpMode | None, ...]] = (None, "latest", "all", "none")
