"""The explorer finds each kind of fault, by the shortest way."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.models.explorer import HOPELESS, STUCK, TOO_MANY, Verdict, explore
from tests.models.programs import Operation, Position, Program, Programs, operation


@dataclass(frozen=True)
class Walk:
    """A model whose states are places, with ways between them."""

    ways: Mapping[str, str]
    bad: str = ""
    ends: str = "z"
    first: str = field(default="a")

    def start(self) -> str:
        return self.first

    def steps(self, state: str) -> Iterator[tuple[str, str]]:
        return ((f"{state} to {after}", after) for after in self.ways.get(state, ""))

    def complaint(self, state: str) -> str | None:
        return "a bad place" if state == self.bad else None

    def is_done(self, state: str) -> bool:
        return state == self.ends


def test_a_world_without_a_fault_is_visited_whole() -> None:
    assert explore(Walk({"a": "bc", "b": "z", "c": "bz"})) == Verdict(4)


def test_the_shortest_way_to_a_complaint_is_shown() -> None:
    verdict = explore(Walk({"a": "bz", "b": "cd", "c": "d", "d": "z"}, bad="d"))
    assert verdict == Verdict(5, "a bad place", ["a to b", "b to d"])


def test_a_place_without_a_step_is_a_fault_unless_the_world_is_done_there() -> None:
    assert explore(Walk({"a": "bz"})) == Verdict(3, STUCK, ["a to b"])


def test_a_step_that_changes_nothing_is_none() -> None:
    assert explore(Walk({"a": "bz", "b": "b"})).complaint == STUCK


def test_places_that_lead_only_to_each_other_are_a_fault() -> None:
    assert explore(Walk({"a": "bz", "b": "c", "c": "b"})) == Verdict(4, HOPELESS, ["a to b"])


def test_a_world_may_be_too_large() -> None:
    assert explore(Walk({"a": "bcz", "b": "z", "c": "z"}), states_max=2).complaint == TOO_MANY


class Counter:
    """Two programs: one asks twice and keeps the second answer, the other follows it."""

    def ask(self) -> Program:
        yield self.read()
        kept = yield self.read()
        yield self.read()
        return Position("follow", (kept,))

    def follow(self, kept: int) -> Program:
        if kept:
            yield self.read()
        return None

    @operation("reads")
    def read(self, state: int, _me: int) -> list[tuple[int, int]]:
        return [(state, state)]


def test_a_function_stands_where_its_answers_lead_it() -> None:
    programs = Programs(Counter())
    step: Operation | None
    position, step = programs.next(Position("ask", (), (1, 5, 7)))
    assert position == Position("follow", (5,))
    assert step is not None
    assert str(step) == "reads"
    assert programs.next(Position("ask", (), (1, 0, 7)))[1] is None


def test_answers_that_a_program_does_not_keep_make_no_difference() -> None:
    programs = Programs(Counter())
    assert programs.next(Position("ask", (), (1,))) == programs.next(Position("ask", (), (2,)))
    assert programs.next(Position("ask", (), (1, 1))) != programs.next(Position("ask", (), (1, 2)))
