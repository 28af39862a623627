"""What every GateStore promises of gates of keys (ports/): each stands alone, and a list has what waits."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.builders import EVERY_CHARACTER, NOON
from tests.fakes.engines import Dynamo, Stores

from sweephand.base.limits import GATE_KEY_LENGTH_MAX
from sweephand.base.timing import KEY_GATE_RETENTION_MS
from sweephand.model.gate import GateChange, GateName, Holder, Swap, WaitingGate, guard_id
from sweephand.model.policy import PolicyKey
from sweephand.ports.flow import GateStore

KEY = PolicyKey("default", "mailer")
ACME = GateName(KEY, 0, "label:tenant:acme")
HELD = GateChange({"owner00000000001": Swap(None, Holder(4, NOON + 180_000))})

#: Keys of which one could be taken for another, or for a gate without a key.
KEYS = (
    None,
    "host:",
    "host:0000",
    "host:rate",
    "job:",
    "label:a:",
    "label:a:b#0000",
    "label:a:b",
    "label:" + "n" * 128 + ":" + "\U0001f600" * 128,
    "label:a:\ud800",
    f"job:{EVERY_CHARACTER}",
)


@pytest.fixture
def gates(stores: Stores) -> GateStore:
    return stores.gates


def place(key: str | None, since: int = NOON, number: int = 0, guard: str = "guard1") -> WaitingGate:
    return WaitingGate(GateName(KEY, number, key), guard_id(since, guard))


@pytest.mark.parametrize("key", KEYS)
def test_the_gates_of_a_key_are_its_own(gates: GateStore, key: str | None) -> None:
    name = GateName(KEY, 0, key)
    assert len(key or "") <= GATE_KEY_LENGTH_MAX
    assert gates.change(name, HELD).is_made
    assert gates.get(name).used == 4
    others = [name._replace(key=each) for each in KEYS if each != key]
    assert {gates.get(each).used for each in others} == {0}


def test_a_list_has_the_gates_that_wait_those_first_that_have_waited_longest(gates: GateStore) -> None:
    waiting = [place(each, NOON - number) for number, each in enumerate(KEYS) if each is not None]
    for each in waiting:
        gates.enlist(each)
    gates.enlist(WaitingGate(GateName(PolicyKey("default", "mail"), 0, "host:"), guard_id(NOON, "g")))
    assert gates.waiting(KEY, "", 100) == (tuple(reversed(waiting)), None)


def test_a_list_is_read_in_pages(gates: GateStore) -> None:
    waiting = [place(f"job:{number}", NOON + number // 2, number) for number in range(5)]
    for each in waiting:
        gates.enlist(each)
    found: list[WaitingGate] = []
    after: str | None = ""
    while after is not None:
        page = gates.waiting(KEY, after, 2)
        found += page.items
        after = page.next
    assert found == sorted(waiting, key=lambda each: each.place)
    assert gates.waiting(KEY, found[-1].place, 2) == ((), None)


def test_a_place_is_removed_by_the_guard_that_wrote_it_last(gates: GateStore) -> None:
    first, second = place("host:", guard="guard1"), place("host:", guard="guard2")
    assert first.place == second.place
    gates.enlist(first)
    gates.enlist(second)
    gates.delist(first)
    assert gates.waiting(KEY, "", 10).items == (second,)
    gates.delist(second)
    gates.delist(second)
    assert gates.waiting(KEY, "", 10).items == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(value=st.text(max_size=128))
def test_a_list_shows_any_value_as_it_is(gates: GateStore, value: str) -> None:
    listed = place(f"label:tenant:{value}")
    gates.enlist(listed)
    assert gates.waiting(KEY, "", 10).items == (listed,)
    gates.delist(listed)


def test_what_belongs_to_a_key_is_removed_some_weeks_after_its_last_write(dynamo: Dynamo) -> None:
    stores = dynamo.stores()
    plain = GateName(KEY, 0)
    for name in (plain, ACME):
        stores.gates.change(name, HELD)
    stores.clock.time += 60_000
    stores.gates.change(ACME, GateChange(queues=True))
    stores.gates.enlist(WaitingGate(ACME, guard_id(NOON, "g")))
    ends = {
        (item["pk"]["S"], item["sk"]["S"]): int(item["expires_at"]["N"]) * 1_000
        if "expires_at" in item
        else None
        for item in dynamo.client.scan(TableName=dynamo.timers_table)["Items"]
    }
    of_key = f"gate#default#mailer#{ACME.digest}"
    assert ends == {
        ("gate#default#mailer#0000", "gate"): None,
        (f"{of_key}#0000", "gate"): NOON + 60_000 + KEY_GATE_RETENTION_MS,
        ("waits#default#mailer", f"{NOON:014d}.{ACME.digest}.0000"): None,
    }
