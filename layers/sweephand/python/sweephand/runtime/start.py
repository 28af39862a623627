"""How a function imports its modules: without the garbage collector, and boto3 first."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def starting() -> Iterator[None]:
    """Import the modules of a function within this block. The collector then leaves alone what they made.

    Importing makes some 80,000 objects and hardly any garbage. The collector would look through them a
    hundred times while they are made: a tenth of the start. It would do so again in later calls, for 10 to
    20 ms of CPU each time, while triggers wait. So it is off within the block, and then never looks at these
    objects again. The garbage among them, less than a thousand objects, stays. Afterwards the collector works
    as usual.
    """
    gc.disable()
    try:
        # boto3 comes first, before modules that import it from many modules deep. CPython keeps frames in
        # chunks of 16 KB. When imports nest up to the end of a chunk, each further call maps a chunk and its
        # return unmaps it (python/cpython#142183). That happened 1,300 times here: 3% of the start.
        import boto3  # noqa: F401, PLC0415

        yield
    finally:
        gc.freeze()
        gc.enable()
