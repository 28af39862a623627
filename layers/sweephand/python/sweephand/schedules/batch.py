"""How the triggers of one occurrence are spread over a window: the arithmetic of a batch."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Batch(NamedTuple):
    """Each occurrence has `size` triggers with the indexes 0 to `size - 1`, spread over `window_ms`.

    With a window of 0 ms, all of them are due at once. If the batch `is_counted`, Sweephand keeps its
    progress: which runs are over, and how each ended.
    """

    size: int
    window_ms: int = 0
    is_counted: bool = True

    @classmethod
    def from_item(cls, item: Sequence[Any]) -> "Batch":
        """The batch that to_item() wrote."""
        size, window_ms, *uncounted = item
        return cls(int(size), int(window_ms), not uncounted)

    def to_item(self) -> list[int]:
        """`[size, window_ms]`, and a third element if the batch is not counted."""
        return [self.size, self.window_ms] if self.is_counted else [self.size, self.window_ms, 0]

    def after_ms(self, index: int, window_ms: int) -> int:
        """How long after its occurrence the trigger of that index is due, in whole milliseconds.

        `window_ms` is the window of that occurrence. Fractions of a millisecond are cut off. This is the only
        place where an offset is rounded.
        """
        return index * window_ms // self.size

    def due_within(self, elapsed_ms: int, window_ms: int) -> int:
        """How many triggers of an occurrence are due once `elapsed_ms` have passed since it was due."""
        if elapsed_ms >= window_ms:
            return self.size
        # after_ms(i) <= elapsed  <=>  i * window < (elapsed + 1) * size
        return min(self.size, -(-(elapsed_ms + 1) * self.size // window_ms))
