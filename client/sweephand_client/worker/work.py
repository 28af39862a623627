"""The work of one delivery: wait for its turn, run the command, and report how it ended."""

import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sweephand_client.api.client import Client
from sweephand_client.http import exact_json
from sweephand_client.http.errors import ConflictError, GoneError, InputError, NotFoundError, SweephandError
from sweephand_client.receive.hiding import without_secrets
from sweephand_client.receive.run import Run
from sweephand_client.tasks.exact_yaml import printable
from sweephand_client.worker.commands_file import Command
from sweephand_client.worker.heart import Heart, Held
from sweephand_client.worker.process import Process, StartError
from sweephand_client.worker.slots import Slots
from sweephand_client.worker.surroundings import account_of, directory_of, environment_of
from sweephand_client.worker.turns import Turn

#: The limits of the API (GET /v1/limits: resultBytesMax, reasonLengthMax).
_RESULT_BYTES_MAX: Final = 2_048
_REASON_LENGTH_MAX: Final = 512
#: How often a waiting run asks whether the earlier run of its job has ended.
_TURN_S: Final = 0.5
#: How long an end is reported that does not get through, at the least.
_REPORT_S: Final = 60.0
_REPORT_AGAIN_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class End:
    """How the work of a delivery ended, in words, and the end of the command's output."""

    is_done: bool
    text: str
    output: str = ""

    @property
    def result(self) -> dict[str, str]:
        """What stays with a run that has succeeded: as much of the output's end as there is room for."""
        found = {"end": self.text, "output": self.output}
        while (over := len(exact_json.write(found).encode()) - _RESULT_BYTES_MAX) > 0:
            # A character takes six bytes at most.
            found["output"] = found["output"][max(over // 6, 1) :]
        return found

    @property
    def reason(self) -> str:
        """Why the attempt has failed, with the end of the output."""
        room = _REASON_LENGTH_MAX - len(self.text) - 2
        output = self.output.strip()[-room:] if room > 0 else ""
        return (f"{self.text}: {output}" if output else f"{self.text}.")[:_REASON_LENGTH_MAX]


@dataclass(frozen=True, slots=True)
class Shared:
    """What all works of a worker share."""

    client: Client
    slots: Slots
    locks: Path
    environment: Mapping[str, str]
    say: Callable[[str], None]


class Work:
    """The work of one delivery. `body` is the delivery's own, and `held` what its queue keeps of it."""

    def __init__(self, run: Run, body: bytes, command: Command, held: Held, shared: Shared) -> None:
        self.run = run
        self.began_at: float | None = None
        self._body = body
        self._command = command
        self._held = held
        self._shared = shared
        self._wake = threading.Event()
        self._stop: str | None = None
        self._heart = Heart(run, held, shared.client, changed=self._wake.set, say=self.say)

    def say(self, text: str) -> None:
        """Write lines about this run to the log."""
        about = f"[{printable(f'{self.run.job} {self.run.run_id}')}] "
        self._shared.say(about + text.replace("\n", f"\n{about}"))

    def stop(self, why: str) -> None:
        """End the command, or do not begin it."""
        self._stop = self._stop or why
        self._wake.set()

    def carry_out(self) -> End | None:
        """Do the work and report its end. None if there is none to report: the run is no longer this one's.

        It takes as long as the command does.
        """
        try:
            with self._heart:
                end = self._ended()
        except Exception as error:  # noqa: BLE001 - the run is tried again, and the worker goes on
            end = End(is_done=False, text=f"the worker failed: {error!r}")
        if self._heart.refusal is not None:
            self.say(f"stopped: {self._heart.refusal}")
            return None
        if not self._heart.is_taken:
            self._held.put_back()
            self.say("not begun")
            return None
        self.say(("succeeded: " if end.is_done else "failed: ") + end.text)
        if self.run.token is not None:
            self._report(end)
        elif end.is_done:
            self._held.keep()
        return end

    def _ended(self) -> End:
        with ExitStack() as stack:
            if (end := self._waited(lambda: self._heart.is_taken)) is not None:
                return end
            turn = None
            if self._command.overlap != "allow":
                turn = stack.enter_context(Turn(self._shared.locks, self.run.namespace, self.run.job))
                if not turn.take():
                    if self._command.overlap == "skip":
                        return End(is_done=True, text="skipped, since an earlier run of the job goes on here")
                    if (end := self._waited(turn.take, _TURN_S)) is not None:
                        return end
            slot = stack.enter_context(self._shared.slots.wanted(self._wake.set))
            if (end := self._waited(lambda: slot.is_free)) is not None:
                return end
            return self._commanded(turn)

    def _waited(self, holds: Callable[[], bool], look_s: float | None = None) -> End | None:
        """Wait until that holds. The end if this run may not go on before."""
        while not holds():
            if (end := self._kept_from_going_on()) is not None:
                return end
            self._pause(look_s)
        return None

    def _commanded(self, turn: Turn | None) -> End:
        """Run the command to its end, or stop it."""
        command, run = self._command, self.run
        self.say(f"begins, attempt {run.attempt}")
        try:
            environment = environment_of(command, _names(run), self._shared.environment)
            process = Process(
                command.words,
                environment,
                directory=directory_of(command, environment),
                stdin=self._body if command.stdin == "data" else command.stdin,
                account=account_of(command),
                inherited=() if turn is None else (turn.file,),
                say=self.say,
                ended=self._wake.set,
            )
        except (StartError, KeyError) as error:
            return End(is_done=False, text=str(error))
        self.began_at = time.time()
        deadline = None if command.timeout_s is None else time.monotonic() + command.timeout_s
        end = None
        while not process.is_over and end is None:
            end = self._kept_from_going_on()
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                end = End(
                    is_done=False, text=f"the command took longer than its timeout of {command.timeout_s} s"
                )
            elif end is None:
                self._pause(left_s)
        # What the command has left behind in its group ends too.
        process.end()
        tokens = [run.token] if run.token else []
        output = without_secrets(process.tail, environment, tokens, is_tail=process.is_cut)
        if end is not None:
            return replace(end, output=output)
        status = process.status
        return End(status == 0, _ended_by(status), output)

    def _kept_from_going_on(self) -> End | None:
        """Why this run may not go on."""
        why = self._heart.why_stop() or self._stop
        return None if why is None else End(is_done=False, text=why)

    def _pause(self, for_s: float | None) -> None:
        """Wait until something changes, for so long at most, or until the run is lost."""
        lost_at = self._heart.beats.lost_at
        left_s = [*([] if for_s is None else [for_s]), *([lost_at - time.monotonic()] if lost_at else [])]
        self._wake.wait(max(min(left_s), 0.0) if left_s else None)
        self._wake.clear()

    def _report(self, end: End) -> None:
        """Report the end until the stack has it, or has certainly tried the run elsewhere."""
        run, runs = self.run, self._shared.client.runs
        assert run.run_id is not None, "else the worker has refused it"
        give_up_at = max(self._heart.beats.lost_at or 0.0, time.monotonic()) + _REPORT_S
        while True:
            try:
                if end.is_done:
                    runs.complete(run.namespace, run.job, run.run_id, end.result, token=run.token)
                else:
                    runs.fail(run.namespace, run.job, run.run_id, end.reason, token=run.token)
            except (ConflictError, GoneError, NotFoundError, InputError) as error:
                self.say(f"the end was not taken: {error}")
            except SweephandError as error:
                self.say(f"the end did not get through: {error}")
                if time.monotonic() < give_up_at:
                    time.sleep(_REPORT_AGAIN_S)
                    continue
            return


def _names(run: Run) -> dict[str, str]:
    """What a command learns of its trigger, as variables without their prefix."""
    return {
        "NAMESPACE": run.namespace,
        "JOB": run.job,
        "RUN": run.run_id or "",
        "TRIGGER_ID": run.id,
        "DUE": run.due_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "ATTEMPT": str(run.attempt),
        "SEQUENCE": str(run.sequence),
        "BATCH_INDEX": str(run.batch_index),
    }


def _ended_by(status: int | None) -> str:
    if status is None:
        return "no signal ends the command, which may go on"
    if status >= 0:
        return f"exit code {status}"
    known = {each.value: each.name for each in signal.Signals}
    return f"ended by {known.get(-status, f'signal {-status}')}"
