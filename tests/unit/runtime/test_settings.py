"""A setting that cannot be read is named, with what it has to be."""

import pytest

from sweephand.runtime.settings import Settings, SettingsError


def test_a_function_that_is_told_nothing_of_bundles_sends_each_trigger_alone() -> None:
    assert Settings.read({}).bundle_seconds == 0


@pytest.mark.parametrize("seconds", ["0", "1", "2"])
def test_bundles_span_as_many_seconds_as_the_stack_says(seconds: str) -> None:
    assert Settings.read({"BUNDLE_SECONDS": seconds}).bundle_seconds == int(seconds)


@pytest.mark.parametrize("seconds", ["-1", "3", "1.5", ""])
def test_a_span_that_no_delivery_function_waits_for_is_refused(seconds: str) -> None:
    with pytest.raises(SettingsError, match="BUNDLE_SECONDS must be a whole number from 0 to 2"):
        Settings.read({"BUNDLE_SECONDS": seconds})


def test_a_number_that_must_not_be_nothing_is_refused_with_its_least_value() -> None:
    with pytest.raises(SettingsError, match="SHARD_COUNT must be a whole number of at least 1, not '0'"):
        Settings.read({"SHARD_COUNT": "0"})
