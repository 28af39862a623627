"""Ids and chance that are the same each time, for a stack in simulated time."""

import random
import string
from typing import Final

_TOKEN: Final = string.digits + string.ascii_lowercase
_SECRET: Final = string.ascii_letters + string.digits


class SeededIds:
    """ports.Ids that are the same in each run with one seed. Nobody must use them for a real stack."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - as the docstring says

    def token(self) -> str:
        """16 characters of a-z and 0-9."""
        return "".join(self._random.choices(_TOKEN, k=16))

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9."""
        return "".join(self._random.choices(_SECRET, k=43))

    def fraction(self) -> float:
        """A number from 0 up to, but not including, 1."""
        return self._random.random()
