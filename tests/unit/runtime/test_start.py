"""How a function imports its modules."""

import gc
from collections.abc import Iterator

import pytest
from tests.fakes.functions import FUNCTIONS, function

from sweephand.runtime.start import starting


@pytest.fixture(autouse=True)
def nothing_stays_frozen() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()
    assert gc.isenabled()


def test_the_collector_is_off_while_a_function_starts() -> None:
    with starting():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_never_examines_the_objects_that_the_start_has_made() -> None:
    with starting():
        made = [[number] for number in range(100)]
    assert gc.get_freeze_count() > len(made)
    assert not any(each is made for each in gc.get_objects())


def test_the_collector_works_again_after_a_start_that_failed() -> None:
    with pytest.raises(ImportError), starting():
        raise ImportError
    assert gc.isenabled()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_starts_without_the_collector(name: str) -> None:
    function(name)
    assert gc.get_freeze_count() > 0
