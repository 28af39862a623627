"""How the triggers of one occurrence are spread over a window: the arithmetic of a batch."""

from typing import NamedTuple


class Batch(NamedTuple):
    """Each occurrence has `size` triggers with the indexes 0 to `size - 1`, spread over `window_ms`.

    With a window of 0 ms, all of them are due at once.
    """

    size: int
    window_ms: int = 0

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
