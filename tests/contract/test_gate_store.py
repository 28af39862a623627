"""What every GateStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.builders import EVERY_CHARACTER, NOON
from tests.fakes.engines import Dynamo, Stores
from tests.fakes.flow_memory import MemoryGates, applied
from tests.fakes.wire import repeated_by_the_sdk

from sweephand.model.gate import Baton, Gate, GateChange, GateName, Holder, Swap, Taking
from sweephand.model.policy import PolicyKey
from sweephand.ports.flow import GateStore

KEY = PolicyKey("default", "mailer")
NAME = GateName(KEY, 3)
ME, YOU = "owner00000000001", "owner00000000002"
HELD = Holder(4, NOON + 180_000)
NOON_US = NOON * 1_000
BATON = Baton(NOON, "baton00000000001")
LATER_BATON = Baton(NOON + 5, "baton00000000002")

#: A gate that has everything.
FULL = GateChange({ME: Swap(None, HELD)}, guard_if_absent="guard1", queues=True, baton=BATON)
STORED = Gate(4, {ME: HELD}, "guard1", queues=True, baton=BATON)


@pytest.fixture
def gates(stores: Stores) -> GateStore:
    return stores.gates


@pytest.fixture
def full(gates: GateStore) -> GateStore:
    """A store with a gate that has everything."""
    assert gates.change(NAME, FULL) == (STORED, True)
    return gates


def test_a_gate_that_was_never_written_is_empty(gates: GateStore) -> None:
    assert gates.get(NAME) == Gate()
    refused = gates.change(NAME, GateChange({ME: Swap(HELD, HELD._replace(number=2))}))
    assert refused == (Gate(), False)
    assert gates.get(NAME) == Gate()


@pytest.mark.parametrize(
    "name", [NAME, GateName(PolicyKey(EVERY_CHARACTER, EVERY_CHARACTER), 9_999), GateName(KEY, 0)]
)
def test_a_gate_reads_back_as_it_was_written_and_each_has_its_own_item(
    gates: GateStore, name: GateName
) -> None:
    assert gates.change(name, FULL) == (STORED, True)
    assert gates.get(name) == STORED
    assert gates.get(GateName(name.policy, name.number + 1)) == Gate()
    assert gates.get(GateName(PolicyKey("default", "mail"), name.number)) == Gate()


def test_slots_in_use_follow_from_the_holders(full: GateStore) -> None:
    less, run = Holder(1, HELD.until, 2), Holder(1, NOON + 5)
    change = GateChange({ME: Swap(HELD, less), "run": Swap(None, run), YOU: Swap(None, Holder(7, NOON))})
    assert full.change(NAME, change).gate == STORED._replace(
        used=9, holders={ME: less, "run": run, YOU: Holder(7, NOON)}
    )
    gone = GateChange({ME: Swap(less, None), YOU: Swap(Holder(7, NOON), None)})
    assert full.change(NAME, gone).gate == STORED._replace(used=1, holders={"run": run})


@pytest.mark.parametrize("seen", [HELD._replace(number=2), HELD._replace(slots=3), HELD._replace(until=1)])
def test_a_holder_is_swapped_only_as_it_was_seen(full: GateStore, seen: Holder) -> None:
    change = GateChange({ME: Swap(seen, HELD._replace(slots=9, number=9)), YOU: Swap(None, HELD)})
    assert full.change(NAME, change) == (STORED, False)
    assert full.change(NAME, GateChange({ME: Swap(None, Holder(9, NOON))})) == (STORED, False)
    assert full.get(NAME) == STORED


@pytest.mark.parametrize(("most", "is_made"), [(3, False), (4, True), (5, True), (-1, False)])
def test_slots_are_taken_only_if_no_more_are_in_use_than_the_writer_allows(
    full: GateStore, most: int, *, is_made: bool
) -> None:
    changed = full.change(NAME, GateChange({YOU: Swap(None, HELD)}, used_max=most))
    assert changed.is_made is is_made
    assert full.get(NAME).used == changed.gate.used == (8 if is_made else 4)


@pytest.mark.parametrize(("most", "is_made"), [(0, True), (-1, False)])
def test_nothing_is_in_use_at_a_gate_that_was_never_written(
    gates: GateStore, most: int, *, is_made: bool
) -> None:
    assert gates.change(NAME, GateChange({YOU: Swap(None, HELD)}, used_max=most)).is_made is is_made


def test_a_guard_is_replaced_and_removed_only_by_its_id(full: GateStore) -> None:
    assert full.change(NAME, GateChange(guard=Swap("guard0", "guard2"))) == (STORED, False)
    assert full.change(NAME, GateChange(guard=Swap(None, "guard2"))) == (STORED, False)
    replaced = full.change(NAME, GateChange(guard=Swap("guard1", "guard2"), queues=True))
    assert replaced == (STORED._replace(guard="guard2"), True)
    assert full.change(NAME, GateChange(guard=Swap("guard2", None))).gate.guard is None
    assert full.change(NAME, GateChange(guard=Swap(None, "guard3"))).gate.guard == "guard3"


def test_a_guard_is_stored_if_absent_and_the_rest_in_any_case(gates: GateStore) -> None:
    first = gates.change(NAME, GateChange(guard_if_absent="guard1", queues=False))
    assert first == (Gate(guard="guard1"), True)
    second = gates.change(NAME, GateChange(guard_if_absent="guard2", queues=True))
    assert second == (Gate(guard="guard1", queues=True), True)


def test_the_mark_of_waiting_triggers_is_set_removed_and_left_alone(full: GateStore) -> None:
    assert full.change(NAME, GateChange(removes_baton=True)).gate.queues
    assert not full.change(NAME, GateChange(queues=False)).gate.queues
    assert not full.change(NAME, GateChange(removes_baton=True)).gate.queues
    assert full.change(NAME, GateChange(queues=True)).gate.queues


def test_one_baton_is_under_way_unless_it_replaces_the_other(full: GateStore) -> None:
    assert full.change(NAME, GateChange(baton=LATER_BATON)) == (STORED, False)
    replaced = full.change(NAME, GateChange(baton=LATER_BATON, replaces_baton=True))
    assert replaced == (STORED._replace(baton=LATER_BATON), True)
    assert full.change(NAME, GateChange(removes_baton=True)) == (STORED._replace(baton=None), True)
    assert full.change(NAME, GateChange(removes_baton=True)).is_made
    assert full.change(NAME, GateChange(baton=BATON)) == (STORED, True)


def test_one_of_several_functions_takes_the_last_slots_and_one_sends_the_baton(stores: Stores) -> None:
    rivals = [f"owner00000000{each:03}" for each in range(8)]

    def take(owner: str) -> tuple[bool, bool]:
        taken = stores.gates.change(NAME, GateChange({owner: Swap(None, HELD)}, used_max=3))
        return taken.is_made, stores.gates.change(NAME, GateChange(baton=Baton(NOON, owner))).is_made

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(take, rivals))
    assert [sum(each) for each in zip(*won, strict=True)] == [1, 1]
    assert stores.gates.get(NAME).used == 4


REPEATED = [
    FULL,
    GateChange({ME: Swap(None, HELD)}, used_max=0),
    GateChange({ME: Swap(None, HELD)}, used_max=0, yields=True),
    GateChange(guard=Swap(None, "guard1"), queues=True),
    GateChange(baton=BATON),
    GateChange(guard_if_absent="guard1", queues=True),
    GateChange(baton=BATON, replaces_baton=True),
    GateChange(removes_baton=True),
]


@pytest.mark.parametrize("change", REPEATED)
def test_a_change_that_the_sdk_repeats_counts_as_made(dynamo: Dynamo, change: GateChange) -> None:
    gates = dynamo.stores().gates
    with repeated_by_the_sdk(dynamo.client, "UpdateItem") as sent:
        assert gates.change(NAME, change) == (applied(change, Gate()), True)
    assert sent.times == 2


def test_giving_back_that_the_sdk_repeats_gives_back_once(dynamo: Dynamo) -> None:
    gates = dynamo.stores().gates
    gates.change(NAME, GateChange({ME: Swap(None, HELD), YOU: Swap(None, HELD)}))
    with repeated_by_the_sdk(dynamo.client, "UpdateItem"):
        less = Holder(3, HELD.until, HELD.number + 1)
        some = gates.change(NAME, GateChange({ME: Swap(HELD, less)}))
        rest = gates.change(NAME, GateChange({ME: Swap(less, None)}, queues=False))
    assert (some.is_made, some.gate.used) == (True, 7)
    assert rest == (Gate(4, {YOU: HELD}), True)


# ---- the one rule and DynamoDB's conditions

IDS = st.sampled_from([ME, YOU])
HOLDERS = st.none() | st.builds(Holder, st.integers(1, 3), st.just(NOON), st.integers(1, 2))
GUARDS = st.none() | st.sampled_from(["guard1", "guard2"])
TAKING = st.builds(
    Taking,
    st.integers(1, 3),
    st.just(5),
    st.just(50),
    st.sampled_from([0, NOON_US]),
    st.sampled_from([NOON_US, NOON_US + 20]),
    st.none() | st.just(NOON_US + 1),
)
CHANGES = st.builds(
    GateChange,
    st.dictionaries(IDS, st.builds(Swap, HOLDERS, HOLDERS), max_size=2),
    st.none() | st.integers(-1, 6),
    st.none() | st.builds(Swap, GUARDS, GUARDS),
    GUARDS,
    st.none() | st.booleans(),
    st.none() | st.sampled_from([BATON, LATER_BATON]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.none() | TAKING,
).filter(lambda change: change._replace(used_max=None, replaces_baton=False, yields=False) != GateChange())

fresh = count()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=4, max_size=9))
def test_dynamodb_answers_any_changes_as_the_rule_says(dynamo: Dynamo, changes: list[GateChange]) -> None:
    memory, gates, name = MemoryGates(), dynamo.stores().gates, GateName(KEY, next(fresh))
    for change in changes:
        assert gates.change(name, change) == memory.change(name, change)
    assert gates.get(name) == memory.get(name)


# ---- tokens


def after(last_us: int, size: int = 1) -> GateChange:
    """Take so many tokens that follow the last one, whose slot lies at most a second before that instant."""
    return GateChange(taking=Taking(size, 5, 50, last_us - 1_000_000, last_us, None))


QUIET = GateChange(taking=Taking(3, 5, 50, 0, NOON_US - 6, NOON_US))


def test_tokens_of_a_quiet_bucket_begin_at_an_instant_and_others_follow(gates: GateStore) -> None:
    assert gates.change(NAME, after(NOON_US)) == (Gate(), False), "none was ever taken"
    assert gates.change(NAME, QUIET) == (Gate(last_us=NOON_US + 10), True)
    assert gates.change(NAME, QUIET) == (Gate(last_us=NOON_US + 10), False)
    assert gates.change(NAME, after(NOON_US + 10, 2)) == (Gate(last_us=NOON_US + 20), True)
    assert gates.change(NAME, after(NOON_US + 19)) == (Gate(last_us=NOON_US + 20), False)
    assert gates.change(NAME, after(NOON_US + 1_000_021)) == (Gate(last_us=NOON_US + 20), False)
    assert gates.get(GateName(KEY, 0)) == Gate()


def test_slots_and_tokens_are_taken_by_one_write_or_neither(full: GateStore) -> None:
    both = QUIET._replace(holders={YOU: Swap(None, HELD)}, used_max=3)
    assert full.change(NAME, both) == (STORED, False)
    assert full.change(NAME, both._replace(used_max=4)).gate == STORED._replace(
        used=8, holders={ME: HELD, YOU: HELD}, last_us=NOON_US + 10
    )
    late = both._replace(holders={"other": Swap(None, HELD)}, used_max=8)
    assert full.change(NAME, late).gate.used == 8


def test_tokens_are_lost_if_the_sdk_repeats_the_write_that_takes_them(dynamo: Dynamo) -> None:
    gates = dynamo.stores().gates
    with repeated_by_the_sdk(dynamo.client, "UpdateItem"):
        both = QUIET._replace(holders={ME: Swap(None, HELD)})
        assert gates.change(NAME, both) == (Gate(4, {ME: HELD}, last_us=NOON_US + 10), False)
        assert gates.change(NAME, after(NOON_US + 1_000, 2)).gate.last_us == NOON_US + 30


def test_several_functions_take_tokens_at_once_and_none_is_taken_twice(stores: Stores) -> None:
    assert stores.gates.change(NAME, QUIET).is_made
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: stores.gates.change(NAME, after(NOON_US + 1_000, 2)), range(16)))
    assert all(each.is_made for each in taken)
    assert sorted(each.gate.last_us - NOON_US for each in taken) == list(range(20, 180, 10))
