"""Ranges of triggers read back as they were written, and any change of one leaves a message or poison."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.messages import SPAN

from sweephand.base.errors import PoisonError
from sweephand.model.wire import decode, encode

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    "changed",
    [
        {"schedule": "every other day"},
        {"schedule": 5},
        {"timezone": "Mars/Olympus"},
        {"timezone": None},
        {"startAt": "soon"},
        {"startAt": None},
    ],
)
def test_a_range_whose_series_cannot_be_read_is_poison(changed: dict[str, Any]) -> None:
    fields = json.loads(encode(SPAN))
    with pytest.raises(PoisonError):
        decode(json.dumps(fields | {"series": fields["series"] | changed}))


@given(st.dictionaries(st.sampled_from(list(SPAN.series.to_item())), json_values))
def test_a_series_with_any_fields_changed_is_a_message_or_poison(changed: dict[str, Any]) -> None:
    fields = json.loads(encode(SPAN))
    with suppress(PoisonError):
        decode(json.dumps(fields | {"series": fields["series"] | changed}))
