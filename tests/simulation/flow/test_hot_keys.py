"""No partition key of a table gets hot under a policy of 1,000 slots.

A world of 1,000 slots and 100 functions takes minutes: `python -m tests.simulation.flow --hot`. Here is a
fifth of it, and a fifth of what DynamoDB serves. What a key takes grows with the functions at most.
"""

from typing import Final

from tests.simulation.flow.hot_keys import hottest

#: A fifth of what DynamoDB serves of one partition key in a second, in units.
WRITES_MAX: Final = 1_000 // 5
READS_MAX: Final = 3_000 // 5


def test_two_hundred_slots_and_twenty_functions_take_little_of_each_partition_key() -> None:
    found = hottest(1, 200, 20, 2)
    assert found.triggers == 800
    assert 0 < found.writes < WRITES_MAX, found.written
    assert 0 < found.reads < READS_MAX, found.read
