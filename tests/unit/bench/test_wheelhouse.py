"""The size of items, as DynamoDB's documentation of items and data types counts it."""

from typing import Any

import pytest
from infra.bench import wheelhouse


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "abc"}, 3),
        ({"S": "ä"}, 2),
        ({"N": "1234"}, 3),
        ({"N": "12345"}, 4),
        ({"B": b"1234"}, 4),
        ({"B": "MTIzNA=="}, 4),
        ({"BOOL": True}, 1),
        ({"M": {"pk": {"S": "abc"}, "n": {"N": "12"}}}, 2 + 3 + 1 + 2),
        ({"L": [{"S": "ab"}, {"S": "c"}]}, 3 + 1 + 2 + 1 + 1),
    ],
)
def test_the_size_of_a_value_is_the_number_of_bytes_that_dynamodb_bills(
    value: dict[str, Any], size: int
) -> None:
    assert wheelhouse._size(value) == size
