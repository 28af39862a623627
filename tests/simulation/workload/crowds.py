"""The jobs of a seed with a backlog, with much due in every shard."""

from collections.abc import Mapping
from typing import Any, Final

#: The actions of clients in such a seed.
CROWD: Final = "crowd"

#: Every occurrence of each job fires, however late. Dense jobs make pages that take many requests.
_CATCH_UP: Final = {"mode": "all", "window": "24h"}
_DENSE: Final = ({"schedule": "@every 1s"}, {"schedule": "@every 2s"})
_USUAL: Final = ({"schedule": "* * * * *"}, {"schedule": "@every 20s"}, {"schedule": "@every 45s"})

#: The number of occurrences of a dense job. They fall due while no tick comes.
_DENSE_REPEATS: Final = 120


def crowd_definition(number: int) -> Mapping[str, Any]:
    """Return the definition that the client with that number writes in a seed with a backlog."""
    if number % 2:
        dense = _DENSE[number // 2 % len(_DENSE)]
        return {**dense, "dueTime": "6m", "repeats": _DENSE_REPEATS, "catchup": _CATCH_UP}
    return {**_USUAL[number // 2 % len(_USUAL)], "catchup": _CATCH_UP}
