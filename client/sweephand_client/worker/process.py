"""One command as a process, with the group of all that it starts.

The group is a session of its own, so that a signal reaches the command and its children, and nothing else.
"""

import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

#: How long a group may take to end after SIGTERM, before SIGKILL.
KILL_AFTER_S: Final = 10

#: What is kept of the output. It is more than a run takes, so that what is hidden in it stands there whole.
_TAIL_BYTES: Final = 4_096
_LINE_BYTES_MAX: Final = 8_192
_CHUNK_BYTES: Final = 65_536
#: How often a group is asked whether it has ended, and a quiet output whether anybody still reads it.
_LOOK_S: Final = 0.05
_READ_MS: Final = 500
#: How long the rest of the output may take when the group is gone.
_REST_S: Final = 1


class StartError(Exception):
    """A command cannot be started. The message says why."""


@dataclass(frozen=True, slots=True)
class Account:
    """The user that a command runs as. Without a `uid` it is the worker's own."""

    uid: int | None
    gid: int | None
    groups: Sequence[int] | None


class Process:
    """A command that runs. `ended` is called in a thread as soon as the command is over.

    `say` gets the lines of the output, standard error included, as they come. `inherited` are files that the
    command keeps open. Raises StartError.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        directory: str,
        stdin: bytes,
        account: Account,
        inherited: Sequence[int] = (),
        say: Callable[[str], None],
        ended: Callable[[], None],
    ) -> None:
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            try:
                self._child = subprocess.Popen(  # noqa: S603 - the operator's own file names the command
                    words,
                    env=environment,
                    cwd=directory,
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=inherited,
                    user=account.uid,
                    group=account.gid,
                    extra_groups=account.groups,
                )
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                raise StartError(f"The command cannot be started: {error}") from None
        self._say = say
        self._ended = ended
        self._tail = bytearray()
        self._is_over = threading.Event()
        self._is_read = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        threading.Thread(target=self._wait, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process of the command. Its group has the same number."""
        return self._child.pid

    @property
    def is_over(self) -> bool:
        """Whether the command has ended. Its group may go on."""
        return self._is_over.is_set()

    @property
    def status(self) -> int | None:
        """The exit code; the negative number of a signal that ended the command. None while it runs."""
        return self._child.returncode

    @property
    def tail(self) -> str:
        """The last bytes of the output."""
        return bytes(self._tail).decode(errors="replace")

    @property
    def is_cut(self) -> bool:
        """Whether there may be more output than its last bytes."""
        return len(self._tail) == _TAIL_BYTES

    def end(self, kill_after_s: float = KILL_AFTER_S) -> None:
        """End the command and all of its group: by SIGTERM, and after `kill_after_s` by SIGKILL.

        Returns when the group is gone and the output is read. It also ends what a command has left behind
        that has ended by itself. It gives up on a process of another user that no signal reaches.
        """
        self._signal(signal.SIGTERM)
        if self._goes_on(kill_after_s):
            self._signal(signal.SIGKILL)
            self._goes_on(kill_after_s)
        self._reader.join(_REST_S)
        # A process that has left the group may hold the output open. It is not waited for.
        self._is_read.set()
        self._reader.join()

    def _goes_on(self, for_s: float) -> bool:
        """Wait until the group is gone, for so long at most. Returns whether it is still there."""
        deadline = time.monotonic() + for_s
        while self._has_group():
            if time.monotonic() >= deadline:
                return True
            time.sleep(_LOOK_S)
        return False

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _has_group(self) -> bool:
        if not self.is_over:
            return True
        with suppress(ChildProcessError):
            # The first process of a container is the parent of orphans, and has to take note of their ends.
            while os.waitpid(-self.pid, os.WNOHANG)[0]:
                pass
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _wait(self) -> None:
        self._child.wait()
        self._is_over.set()
        self._ended()

    def _read(self) -> None:
        assert self._child.stdout is not None, "it was asked for"
        rest = b""
        with self._child.stdout as output:
            poll = select.poll()
            poll.register(output, select.POLLIN)
            while not self._is_read.is_set():
                if not poll.poll(_READ_MS):
                    continue
                chunk = os.read(output.fileno(), _CHUNK_BYTES)
                if not chunk:
                    break
                self._tail += chunk
                del self._tail[:-_TAIL_BYTES]
                whole, newline, rest = (rest + chunk).rpartition(b"\n")
                if newline:
                    self._say(whole.decode(errors="replace"))
                if len(rest) > _LINE_BYTES_MAX:
                    self._say(rest.decode(errors="replace"))
                    rest = b""
        if rest:
            self._say(rest.decode(errors="replace"))
