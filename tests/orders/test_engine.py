"""The engine finds what shows in one order alone, and counts the orders that it walks."""

from collections.abc import Callable
from math import comb

import pytest
from tests.orders.engine import Actor, Explored, Scene, Steps, explore, first_complaint


class Counter:
    """A store of one number."""

    def __init__(self) -> None:
        self.number = 0
        self.version = 0

    def get(self) -> tuple[int, int]:
        return self.number, self.version

    def put(self, number: int) -> None:
        self.number = number

    def put_if(self, number: int, version: int) -> bool:
        if version != self.version:
            return False
        self.number, self.version = number, version + 1
        return True


def overwrites(counter: Counter) -> None:
    number, _ = counter.get()
    counter.put(number + 1)


def compares(counter: Counter) -> None:
    while True:
        number, version = counter.get()
        if counter.put_if(number + 1, version):
            return


def scene(*acts: Callable[[Counter], None], may_crash: bool = True) -> Callable[[Steps], Scene]:
    """Actors that each count one, and a judge who expects their sum."""

    def build(steps: Steps) -> Scene:
        counter = Counter()
        port = steps.port(counter, "counter")

        def judge(has_crash: bool) -> None:  # noqa: FBT001 - as Scene has it
            expected = {len(acts), len(acts) - 1} if has_crash and may_crash else {len(acts)}
            assert counter.number in expected, f"counted {counter.number}"

        actors = [Actor(f"actor {number}", lambda act=act: act(port)) for number, act in enumerate(acts)]  # type: ignore[misc]
        return Scene(actors, lambda: 0, lambda: repr(vars(counter)), judge)

    return build


def told(found: Explored) -> list[tuple[str, str]]:
    return [(each.actor, each.call) for each in found.story]


def test_a_lost_update_shows_with_one_preemption_and_not_without() -> None:
    assert explore(scene(overwrites, overwrites), 0).complaint is None
    found = first_complaint(scene(overwrites, overwrites))
    assert (found.complaint or "").startswith("counted 1")
    assert told(found) == [
        ("actor 0", "begins"),
        ("actor 0", "counter.get"),
        ("actor 1", "begins"),
        ("actor 1", "counter.get"),
        ("actor 1", "counter.put"),
        ("actor 0", "counter.put"),
    ]


def test_a_conditional_write_loses_no_update_in_any_order() -> None:
    found = explore(scene(compares, compares, compares), None)
    assert found.complaint is None
    assert found.orders > found.states > found.ends


def test_a_crash_comes_before_any_step_of_the_actor() -> None:
    found = explore(scene(compares, may_crash=False), 0)
    assert (found.complaint or "").startswith("counted 0")
    assert [each.crashes for each in found.story][-1]


def twice(counter: Counter) -> None:
    counter.get()
    counter.get()


@pytest.mark.parametrize(("preemptions", "orders"), [(0, 2), (1, 2 + 4), (None, comb(6, 3))])
def test_every_order_of_two_actors_is_counted_once(preemptions: int | None, orders: int) -> None:
    """Both have three steps, with their beginnings. One preemption is after the first step or the second."""

    def build(steps: Steps) -> Scene:
        return scene(twice, twice)(steps)._replace(judge=lambda _: None)

    assert explore(build, preemptions, crashes=0).orders == orders


def test_an_actor_that_fails_is_a_complaint() -> None:
    def fails(_: Counter) -> None:
        raise ValueError("no")

    found = explore(scene(fails), 0)
    assert found.complaint == "actor 0 failed: ValueError('no')"


def test_a_state_without_a_text_is_refused() -> None:
    def build(steps: Steps) -> Scene:
        return scene(compares)(steps)._replace(shared=lambda: repr(object()))

    assert "has no text" in (explore(build, 0).complaint or "")
