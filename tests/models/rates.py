"""A rate: a request leaves for a slot of its gate and a token of a bucket. Time is discrete.

A bucket gives out slots of time. Of these, `limit` span `PER` and `LATE_MAX` together. A request leaves
within `LATE_MAX` of its slot, or its token is lost. So no span shorter than `PER` sees more than `limit`
requests leave, also when a rate changes.

The item of a gate also holds the bucket of that number. So one write takes a slot and a token.

A rate adds three rules to gates. A server without a token that is near gives its slot back and calls. A baton
comes when a token is near, and its gate knows when that will be. A message that finds no token near, and a
baton on its way that comes in time, leaves the gate alone. There may be fewer buckets than gates, or more.
"""

from typing import Final

from tests.models.gates import Gates
from tests.models.operations import LEAVE, NOTHING, Outcomes
from tests.models.platform import Steps
from tests.models.programs import Part, Position, Program, operation
from tests.models.state import NO_TOKEN, Bucket, Message, State

#: The span for which a rate counts, and how long after its slot a request may leave.
PER: Final = 2
LATE_MAX: Final = 1
#: A token is near if its slot comes within this time. A baton comes as long before a slot.
NEAR: Final = 1

#: What a trigger that has not waited has taken.
NEITHER, SLOT, BOTH = range(3)


class Rates(Gates):
    """The model of gates with a rate."""

    def start(self) -> State:
        steps = [self.step(rate) for rate in self.world.rates[0]]
        buckets = tuple(Bucket(-self.step(1), step) for step in steps)
        return super().start()._replace(buckets=buckets, delays_left=self.world.delays)

    @staticmethod
    def step(rate: int) -> int:
        """The distance of slots. A bucket without a share of the rate has none."""
        return -(-(PER + LATE_MAX) // rate) if rate else 0

    def complaint(self, state: State) -> str | None:
        rate_max = max(map(sum, self.world.rates[: state.version + 1]))
        if len(state.departures) > rate_max:
            return "more requests left than the rate permits"
        return super().complaint(state)

    def outer_steps(self, state: State) -> Steps:
        yield from super().outer_steps(state)
        if all(0 < function.token < NO_TOKEN for function in state.functions):
            yield "time passes", self.later(state).in_order()
        elif state.delays_left:
            slow = state._replace(delays_left=state.delays_left - 1)
            yield "time passes, and a function is slow", self.later(slow).in_order()

    def later(self, state: State) -> State:
        """The state after one unit of time. A bucket that nobody asked for so long is as a new one."""
        messages = tuple(
            message._replace(number=max(0, message.number - 1)) if message.kind == "baton" else message
            for message in state.messages
        )
        return state._replace(
            messages=tuple(sorted(messages)),
            gates=tuple(gate._replace(baton=max(min(gate.baton, 1), gate.baton - 1)) for gate in state.gates),
            buckets=tuple(
                bucket._replace(next=max(-self.step(1), bucket.next - 1)) for bucket in state.buckets
            ),
            functions=tuple(
                function
                if function.token == NO_TOKEN
                else function._replace(token=max(-LATE_MAX - 1, function.token - 1))
                for function in state.functions
            ),
            departures=tuple(age + 1 for age in state.departures if age + 1 < PER),
        )

    def may_come(self, state: State, message: Message) -> bool:
        return super().may_come(state, message) and (message.kind != "baton" or not message.number)

    # ---- programs

    def trigger(self, trigger: int, gate: int, again: int) -> Program:
        taken = NEITHER if again else (yield self.take_slot_with_token(gate))
        if taken == BOTH or (taken == SLOT and (yield self.take_token())):
            return Position("leave_directly", (trigger, gate))
        if taken == SLOT and (yield self.give_slot_back(gate)):
            yield from self.call(gate)
        yield from self.enqueue(gate, trigger, again)
        return None

    def leave_directly(self, trigger: int, gate: int) -> Program:
        """A request that comes too late for its token waits in the line."""
        if (yield self.open_request()):
            yield self.receive_answer(trigger)
            yield self.acknowledge()
        else:
            yield from self.enqueue(gate, trigger, again=0)
        if (yield self.give_slot_back(gate)):
            yield from self.call(gate)
        return None

    def baton(self, gate: int) -> Program:
        if (yield self.is_baton_in_time(gate)):
            return None
        return (yield from super().baton(gate))

    def serve(self, gate: int) -> Program:
        found, line, trigger = yield self.look_for_work(gate)
        if found == LEAVE:
            yield from self.hand_over(gate)
            return None
        if found == NOTHING:
            return (yield from self.leave(gate, line_was_empty=trigger))
        if (yield self.lease(line, trigger)):
            return Position("spend", (gate, line, trigger))
        return Position("serve", (gate,))

    def spend(self, gate: int, line: int, trigger: int) -> Program:
        if not (yield self.take_token()):
            return (yield from self.give_entry_back(gate, line, trigger))
        if not (yield self.open_request()):
            return Position("spend", (gate, line, trigger))
        yield self.receive_answer(trigger)
        yield self.delete_entry(line, trigger)
        return Position("serve", (gate,))

    def call(self, gate: int, again: int = 0) -> Part:
        delay = yield self.read_bucket()
        if (yield self.store_baton_of(gate, delay, again)):
            yield self.send_baton_after(gate, delay)
        return True

    # ---- operations

    def steps_now(self, state: State, me: int) -> list[tuple[int, int]]:
        """The buckets with a share of today's rate, each with its distance of slots."""
        rates = self.world.rates[state.functions[me].view]
        return [(number, self.step(rate)) for number, rate in enumerate(rates) if rate]

    def next_slot(self, state: State, me: int, bucket: int) -> int:
        """The next slot of a bucket at today's rate: it counts from the last slot that was taken."""
        found, rate = state.buckets[bucket], self.world.rates[state.functions[me].view][bucket]
        return max(0, found.next - found.step + self.step(rate))

    @operation("takes a slot directly, and a token of the same item")
    def take_slot_with_token(self, state: State, me: int, gate: int) -> Outcomes:
        """One write takes both, or nothing. A gate without a bucket gives a slot alone."""
        if state.gates[gate].queues or not self.has_free_slot(state, me, gate):
            return [(state, NEITHER)]
        if gate not in dict(self.steps_now(state, me)):
            return [(self.with_slot(state, me, gate), SLOT)]
        after = self.with_token(state, me, gate)
        return [(state, NEITHER) if after is None else (self.with_slot(after, me, gate), BOTH)]

    @operation("takes a token")
    def take_token(self, state: State, me: int) -> Outcomes:
        """One write takes one from any bucket that has one near. Answers whether it did."""
        buckets = [number for number, _ in self.steps_now(state, me)]
        taken = [self.with_token(state, me, number) for number in buckets]
        return [(after, True) for after in taken if after is not None] or [(state, False)]

    def with_token(self, state: State, me: int, bucket: int) -> State | None:
        """The state after the function took the next token of a bucket; None if that is not near."""
        slot, step = self.next_slot(state, me, bucket), dict(self.steps_now(state, me))[bucket]
        if slot > NEAR:
            return None
        after = (*state.buckets[:bucket], Bucket(slot + step, step), *state.buckets[bucket + 1 :])
        return state._replace(buckets=after).with_function(me, token=slot)

    @operation("opens a request for its token")
    def open_request(self, state: State, me: int) -> Outcomes:
        """Waits for the slot. Answers whether the request left in time."""
        function = state.functions[me]
        if function.token > 0:
            return []
        after = state.with_function(me, token=NO_TOKEN)
        if function.token < -LATE_MAX:
            return [(after, False)]
        left = after._replace(departures=tuple(sorted((*state.departures, 0))))
        return [(left.with_function(me, request=function.slot), True)]

    @operation("reads when a token is near")
    def read_bucket(self, state: State, me: int) -> Outcomes:
        return [(state, self.delay(state, me))]

    def delay(self, state: State, me: int) -> int:
        slots = [self.next_slot(state, me, number) for number, _ in self.steps_now(state, me)]
        return max(0, min(slots) - NEAR)

    @operation("stores when a baton comes")
    def store_baton_of(self, state: State, _me: int, gate: int, delay: int, again: int) -> Outcomes:
        if state.gates[gate].baton and not again:
            return [(state, False)]
        return [(state.with_gate(gate, baton=delay + 1), True)]

    @operation("sends a baton after")
    def send_baton_after(self, state: State, _me: int, gate: int, delay: int) -> Outcomes:
        return [(state.with_message(Message("baton", gate, delay)), True)]

    @operation("reads whether no token is near, and a baton comes in time")
    def is_baton_in_time(self, state: State, me: int, gate: int) -> Outcomes:
        delay, coming = self.delay(state, me), state.gates[gate].baton - 1
        return [(state, delay > 0 and 0 < coming <= delay)]
