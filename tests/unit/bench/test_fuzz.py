"""Random inputs raise nothing but refusals. `python -m infra.bench fuzz` tries 100,000."""

from infra.bench.fuzz import fuzz


def test_no_random_input_raises_an_error_of_the_code_or_takes_long() -> None:
    fuzzed = fuzz(2_500, seed=7)
    assert list(fuzzed.failures) == []
    assert fuzzed.accepted > 200
    assert fuzzed.refused > 1_000
    # Ten times what one may take on a quiet machine: a walk to the year 9999 takes longer.
    assert fuzzed.slowest[0][0] < 500


def test_a_seed_gives_the_same_inputs() -> None:
    first, again = (fuzz(300, seed=11) for _ in range(2))
    assert (first.accepted, first.refused) == (again.accepted, again.refused)
    assert (first.accepted, first.refused) != (fuzz(300, seed=12).accepted, 0)
