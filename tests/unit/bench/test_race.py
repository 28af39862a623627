"""A race between a function and bare code: both have turns, and a median decides."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from infra.bench.instant_dynamodb import Asked
from infra.bench.race import Race, Side, Spent, race, replay, stages
from infra.bench.report import Figure


def test_both_sides_do_each_round_once_and_begin_in_turn() -> None:
    begun: list[str] = []

    raced = race(10, 3, lambda: (lambda: begun.append("ours"), lambda: begun.append("bare")))

    assert [begun[at : at + 2] for at in range(0, 8, 2)] == [["bare", "ours"], ["ours", "bare"]] * 2
    assert (len(raced.ours.rounds), len(raced.bare.rounds)) == (3, 3)


def test_the_ratio_is_the_median_of_the_ratios_of_the_rounds() -> None:
    ours = Side(100, [Spent(1.0, 0.01), Spent(2.0, 0.02), Spent(4.0, 0.03)])
    bare = Side(100, [Spent(0.5, 0.01), Spent(2.0, 0.01), Spent(1.0, 0.01)])

    cells = Race(ours, bare).cells(0.6)

    assert cells["ratio"] == Figure(0.5, least=0.6)
    assert cells["a second"] == Figure(50.0, 0)
    assert cells["CPU us"] == Figure(200.0, 0)


def test_requests_that_go_out_together_are_a_stage_and_the_others_keep_their_order() -> None:
    called: list[int] = []

    def note(*, number: int) -> None:
        called.append(number)

    client = SimpleNamespace(get=note, put=note)
    methods = ("get", "put", "put", "get")
    asked = [Asked("db", method, {"number": number}) for number, method in enumerate(methods)]

    staged = stages(asked, {"put": "writes"})
    with ThreadPoolExecutor(2) as threads:
        replay(staged, {"db": client}, threads)

    assert [len(stage) for stage in staged] == [1, 2, 1]
    assert (called[0], sorted(called[1:3]), called[3]) == (0, [1, 2], 3)
