"""What clients ask for in a seed with a backlog: jobs that have much to do in every shard."""

from collections.abc import Mapping
from typing import Any, Final

#: What a client asks for in such a seed.
CROWD: Final = "crowd"

#: Of each job every occurrence fires, however late. Dense ones make pages that take many requests.
_CATCH_UP: Final = {"mode": "all", "window": "24h"}
_DENSE: Final = ({"schedule": "@every 1s"}, {"schedule": "@every 2s"})
_USUAL: Final = ({"schedule": "* * * * *"}, {"schedule": "@every 20s"}, {"schedule": "@every 45s"})

#: So many occurrences has a dense job. They fall due while nothing ticks.
_DENSE_REPEATS: Final = 120


def crowd_definition(number: int) -> Mapping[str, Any]:
    """What the client of that number asks for in a seed with a backlog."""
    if number % 2:
        dense = _DENSE[number // 2 % len(_DENSE)]
        return {**dense, "dueTime": "6m", "repeats": _DENSE_REPEATS, "catchup": _CATCH_UP}
    return {**_USUAL[number // 2 % len(_USUAL)], "catchup": _CATCH_UP}
