"""The flow functions of a simulation, the queue of messages about gates, and writes of the policy."""

from collections.abc import Callable
from functools import partial
from typing import Final

from tests.simulation.traces.chronicle import Chronicle, FlowStores
from tests.simulation.workload.policies import POLICY
from tests.simulation.world.deliveries import Poller
from tests.simulation.world.delivery_queues import DeliveryQueues
from tests.simulation.world.gate import Gate
from tests.simulation.world.machines import Fleet
from tests.simulation.world.processes import LIMITS_MS, NEVER, Process, Scheduler
from tests.simulation.world.sqs import Sqs

from sweephand.base.errors import ConflictError, NotFoundError, StoreError, UnavailableError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.jobs.policies import PolicyWriter
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.gate import GateName
from sweephand.model.gate_message import GateMessage, encode_gate_message
from sweephand.model.policy import Policy
from sweephand.model.trigger import NewerMessage, Trigger, TriggerMessage
from sweephand.runs.received import Received

#: A client whose write of the policy failed asks again after this.
_AGAIN_MS: Final = 3 * SECOND_MS


class FlowPort:
    """ports.FlowQueue over a simulated queue."""

    def __init__(self, gate: Gate, sqs: Sqs) -> None:
        self._gate = gate
        self._sqs = sqs

    def send(self, message: GateMessage | NewerMessage, delay_ms: int) -> None:
        """Send as ports.FlowQueue promises."""
        kinds = self._gate.enter("queue.send")
        self._sqs.accept(encode_gate_message(message), delay_ms // SECOND_MS)
        self._gate.leave("queue.send", kinds)

    def acknowledge(self, receipt: str) -> None:
        """Acknowledge as ports.FlowQueue promises."""
        try:
            kinds = self._gate.enter("queue.acknowledge")
            self._sqs.delete([receipt])
            self._gate.leave("queue.acknowledge", kinds)
        except StoreError:
            return


class FlowFunctions(Poller):
    """Begins flow functions, one for each message, and so many at once at most.

    `begin` starts a process with a body, and `make_process` makes one that is called back when it is killed.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        gate: Gate,
        sqs: Sqs,
        fleet: Fleet,
        stores: FlowStores,
        functions_max: int,
        make_process: Callable[..., Process],
        begin: Callable[[Process, Callable[[], object]], None],
        complain: Callable[[Process, BaseException], None],
        note_uncounted: Callable[[StoreError | None], None],
    ) -> None:
        super().__init__(sqs, functions_max, scheduler, gate)
        self._fleet = fleet
        self._stores = stores
        self._watch = stores.watch
        self._make_process = make_process
        self._begin = begin
        self._complain = complain
        self._note_uncounted = note_uncounted
        self._changes = self._switches = 0

    def _receive(self, visible_at: Instant) -> None:
        del visible_at
        for received in self._sqs.receive(1):
            self._work(received)

    def _work(self, received: Received) -> None:
        self._working += 1
        process = self._make_process("deliver", lambda _: self._is_over(), self._sqs.code_of(received))
        self._watch.workers.add(process)
        deliveries, flow_intake = self._fleet.flow(process.machine)
        clock = self._fleet.clock(process.machine)

        def body() -> None:
            deadline = clock.now() + LIMITS_MS["deliver"]
            worked = flow_intake.handle(received, deadline=deadline)
            stats = deliveries.stats
            assert stats is not None, "every simulated stack counts"
            self._note_uncounted(
                stats.count_of_line(worked.namespace, worked.triggers, process.name, deadline)
            )
            for error in worked.errors:
                self._complain(process, error)
            if worked.is_done:
                self._sqs.delete([received.receipt])
            self._is_over()

        self._begin(process, body)

    def begin_with(self, limits: PolicyLimits) -> None:
        """Let the policy exist before the world begins."""
        now = self._scheduler.now
        policy = Policy(POLICY, "first", limits.concurrent_max, limits.rate, now, now, by=limits.by)
        assert self._stores.policies.put(policy, None)

    def is_at_rest(self, through: Instant, chronicle: Chronicle, queues: DeliveryQueues) -> bool:
        """Whether nothing that is due by then waits in the line, other than what is not owed.

        Nobody owes a trigger of a job that is gone. Nobody owes a trigger that fell due after a client paused
        its job or replaced its revision. A sweeper that was killed left such an entry without a work message.
        The next sweeper of that page finds that nobody owes the trigger, so it calls nobody to the line.

        A function that crashed may have left a copy of a trigger in a line, without a guard. It stays there
        until another trigger comes into that line. The trigger itself is in the delivery queue because its
        job is paused, or, in the line of a key, it was delivered.
        """
        queued = {
            (each.trigger.id, each.attempt) for each in queues.messages() if isinstance(each, TriggerMessage)
        }
        elsewhere = {False: queued, True: queued | self._watch.left}
        return all(
            each.not_before > through
            or _is_not_owed(each.trigger, chronicle)
            or (
                self._has_no_guard(name)
                and (each.trigger.id, each.attempt) in elsewhere[name.key is not None]
            )
            for name, entry in self._stores.lines.everything()
            for each in entry.messages
        )

    def _has_no_guard(self, name: GateName) -> bool:
        return self._stores.gates.get(name).guard is None

    def change(self, limits: PolicyLimits | None) -> None:
        """Let an operator write the policy, or delete it, until it is done or something else is wanted."""
        self._changes += 1
        self._change(limits, self._changes, 0)

    def _change(self, limits: PolicyLimits | None, number: int, tries: int) -> None:
        def write(writer: PolicyWriter, at: Instant) -> None:
            if limits is None:
                writer.delete(POLICY, who="operator", requested_at=at)
            else:
                writer.put(POLICY, limits, who="operator", requested_at=at)

        def again() -> None:
            if number == self._changes:
                at = self._scheduler.now + _AGAIN_MS
                self._scheduler.call_at(at, partial(self._change, limits, number, tries + 1))

        self._write(write, again, number, tries)

    def switch(self, *, pauses: bool) -> None:
        """Let an operator pause the policy or resume it, until it is done or something else is wanted."""
        self._switches += 1
        self._switch(self._switches, 0, pauses=pauses)

    def _switch(self, number: int, tries: int, *, pauses: bool) -> None:
        def write(writer: PolicyWriter, at: Instant) -> None:
            if pauses:
                writer.pause(POLICY, reason=None, who="operator", requested_at=at)
            else:
                writer.resume(POLICY, who="operator", requested_at=at)

        def again() -> None:
            if number == self._switches:
                at = self._scheduler.now + _AGAIN_MS
                self._scheduler.call_at(at, partial(self._switch, number, tries + 1, pauses=pauses))

        self._write(write, again, -number, tries)

    def _write(
        self,
        write: Callable[[PolicyWriter, Instant], None],
        again: Callable[[], None],
        number: int,
        tries: int,
    ) -> None:
        """Write the policy once. Nothing is to be written if it is deleted.

        Two processes that begin at one instant need other numbers: otherwise they draw the same ids.
        """
        process = self._make_process("api", lambda _: again(), self._scheduler.now, number, tries)
        api, clock = self._fleet.api(process.machine), self._fleet.clock(process.machine)

        def body() -> None:
            try:
                write(api.policy_writer, clock.now())
            except NotFoundError:
                return
            except (ConflictError, StoreError, UnavailableError):
                # A paused policy is deleted once it is resumed.
                again()

        self._begin(process, body)


def _is_not_owed(trigger: Trigger, chronicle: Chronicle) -> bool:
    """Whether nobody owes a trigger: its job is gone, or its schedule did not rule when it fell due.

    The resume of a paused job decides about what fell due during the pause.
    """
    ruled_until = min(chronicle.paused.get(trigger.uid, NEVER), chronicle.replaced.get(trigger.rev, NEVER))
    return trigger.uid in chronicle.gone or (trigger.demand is None and trigger.due_at > ruled_until)
