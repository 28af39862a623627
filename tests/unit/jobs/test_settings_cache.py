"""What a process knows of a namespace's windows: what is computed once, and that it is what is computed."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.windows import put_window, world_with_windows
from tests.fakes.world import NOON, World

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.jobs.settings_cache import CachedSettings
from sweephand.model.window import Window, Windows
from sweephand.schedules import Series

#: Recurring windows, also at the instants at which a clock changes, and windows that open once.


def _recurring(schedule: str, timezone: str, due_at: int | None, ttl_at: int | None) -> Series:
    return Series(schedule, timezone, NOON - 400 * DAY_MS, due_at, ttl_at)


def _single(due_at: int) -> Series:
    return Series(None, "UTC", NOON, due_at)


#: Those of windows. st.builds(Series) would fill other fields, such as `counted_at`, which only jobs have.
_SERIES = st.one_of(
    st.builds(
        _recurring,
        st.sampled_from(
            ["0 1 * * *", "30 2 * * *", "*/10 * * * *", "0 9-17 * * MON", "0 0 29 2 *", "0 0 1 1 *"]
        ),
        st.sampled_from(["UTC", "Europe/Paris", "America/New_York"]),
        st.sampled_from([None, NOON - DAY_MS, NOON + HOUR_MS]),
        st.sampled_from([None, NOON - HOUR_MS, NOON + DAY_MS]),
    ),
    st.builds(_single, st.integers(NOON - DAY_MS, NOON + DAY_MS)),
)
_DURATIONS = st.sampled_from([1, MINUTE_MS, HOUR_MS, 36 * HOUR_MS])
_AFTER_MS = st.one_of(
    st.integers(-3 * HOUR_MS, 3 * HOUR_MS),
    st.integers(-200 * DAY_MS, 200 * DAY_MS),
    st.integers(-20, 20).map(lambda tens: tens * 10 * MINUTE_MS),
)


def settings_of(world: World) -> CachedSettings:
    return CachedSettings(namespaces=world.namespaces, clock=world.clock)


@given(series=_SERIES, duration_ms=_DURATIONS, after_ms=st.lists(_AFTER_MS, min_size=1, max_size=20))
def test_a_known_window_is_open_when_the_stored_one_is(
    series: Series, duration_ms: int, after_ms: list[int]
) -> None:
    world = world_with_windows()
    stored = Window("w", "v", series, duration_ms, NOON, "me")
    with patch.object(world.namespaces, "with_windows", lambda _: (None, Windows("ns", "v", (stored,)))):
        (known,) = settings_of(world).windows_of("ns").windows
    for each in after_ms:
        assert known.opening_at(NOON + each) == stored.opening_at(NOON + each)


def test_settings_are_read_again_once_the_clock_has_stepped_back() -> None:
    world = world_with_windows()
    settings = settings_of(world)
    assert settings.windows_of("ns").windows == ()
    put_window(world, "w", schedule="0 1 * * *", duration="1h")
    assert settings.windows_of("ns").windows == ()
    world.clock.time -= 1
    assert [each.name for each in settings.windows_of("ns").windows] == ["w"]


def test_windows_are_never_older_than_a_minute_and_limits_may_be() -> None:
    world = world_with_windows()
    settings = settings_of(world)
    assert settings.windows_of("ns").windows == ()
    put_window(world, "w", schedule="0 1 * * *", duration="1h")
    world.clock.time += MINUTE_MS
    with patch.object(world.namespaces, "with_windows", side_effect=StoreError("nobody there")):
        assert settings.of("ns")
        with pytest.raises(StoreError):
            settings.windows_of("ns")
    assert [each.name for each in settings.windows_of("ns").windows] == ["w"]


def test_the_triggers_of_a_minute_compute_each_window_once() -> None:
    world = world_with_windows()
    for number in range(20):
        put_window(world, f"window-{number}", schedule=f"{number} 1 * * *", duration="1h")
    settings = settings_of(world)
    with patch.object(Series, "latest_through", autospec=True, side_effect=Series.latest_through) as computed:
        for _ in range(50):
            assert not any(each.opening_at(world.clock.time) for each in settings.windows_of("ns").windows)
            world.clock.time += SECOND_MS
    assert computed.call_count == 20
