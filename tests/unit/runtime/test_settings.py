"""An invalid setting raises an error that names the variable and the valid values."""

import pytest

from sweephand.access.authentication import Auth
from sweephand.runtime.settings import Settings, SettingsError


def test_a_function_without_the_setting_of_bundles_sends_each_trigger_alone() -> None:
    assert Settings.read({}).bundle_seconds == 0


@pytest.mark.parametrize("seconds", ["0", "1", "2"])
def test_bundles_span_as_many_seconds_as_the_setting_says(seconds: str) -> None:
    assert Settings.read({"BUNDLE_SECONDS": seconds}).bundle_seconds == int(seconds)


@pytest.mark.parametrize("seconds", ["-1", "3", "1.5", ""])
def test_a_setting_of_bundles_other_than_0_1_or_2_is_refused(seconds: str) -> None:
    with pytest.raises(SettingsError, match="BUNDLE_SECONDS must be a whole number from 0 to 2"):
        Settings.read({"BUNDLE_SECONDS": seconds})


def test_the_stack_is_on_unless_the_setting_says_otherwise() -> None:
    assert Settings.read({}).is_enabled
    assert Settings.read({"ENABLED": "true"}).is_enabled
    assert not Settings.read({"ENABLED": "false"}).is_enabled
    with pytest.raises(SettingsError, match="ENABLED must be true or false, not 'off'"):
        Settings.read({"ENABLED": "off"})


def test_the_valve_may_be_zero_which_stands_for_none() -> None:
    assert Settings.read({}).triggers_per_minute_max == 0
    assert Settings.read({"MAX_TRIGGERS_PER_MINUTE": "0"}).triggers_per_minute_max == 0
    assert Settings.read({"MAX_TRIGGERS_PER_MINUTE": "600"}).triggers_per_minute_max == 600
    with pytest.raises(SettingsError, match="MAX_TRIGGERS_PER_MINUTE must be a whole number of at least 0"):
        Settings.read({"MAX_TRIGGERS_PER_MINUTE": "-1"})


def test_a_setting_of_zero_is_refused_if_the_least_value_is_one() -> None:
    with pytest.raises(SettingsError, match="SHARD_COUNT must be a whole number of at least 1, not '0'"):
        Settings.read({"SHARD_COUNT": "0"})


def test_lists_of_hosts_and_networks_are_read_and_a_wrong_entry_is_named() -> None:
    lists = Settings.read(
        {
            "ALLOWED_TARGET_HOSTS": "Example.com, *.example.com",
            "DENIED_TARGET_HOSTS": "bad.example.com",
            "ALLOWED_TARGET_CIDRS": "203.0.113.0/24,",
            "DENIED_TARGET_CIDRS": "2001:db8::/32",
        }
    ).reach.destinations
    assert lists is not None
    assert lists.allowed_hosts == ("example.com", "*.example.com")
    assert lists.denied_hosts == ("bad.example.com",)
    assert list(map(str, lists.allowed_networks)) == ["203.0.113.0/24"]
    assert list(map(str, lists.denied_networks)) == ["2001:db8::/32"]
    names = ("ALLOWED_TARGET_HOSTS", "DENIED_TARGET_HOSTS", "ALLOWED_TARGET_CIDRS", "DENIED_TARGET_CIDRS")
    assert Settings.read(dict.fromkeys(names, "")).reach.destinations is None
    for name in names[:2]:
        with pytest.raises(SettingsError, match=f"{name} must be a list of hosts .*: 'https://x' is no host"):
            Settings.read({name: "https://x"})
    for name in names[2:]:
        with pytest.raises(SettingsError, match=f"{name} must be a list of networks"):
            Settings.read({name: "203.0.113.1/24"})


def test_private_networks_are_read_and_a_wrong_one_is_named() -> None:
    found = Settings.read({"PRIVATE_TARGET_CIDRS": "10.0.0.0/16, fd00::/8"})
    assert [str(each) for each in found.reach.private] == ["10.0.0.0/16", "fd00::/8"]
    assert Settings.read({}).reach.private == ()
    with pytest.raises(SettingsError, match="PRIVATE_TARGET_CIDRS must be a list of networks"):
        Settings.read({"PRIVATE_TARGET_CIDRS": "10.0.0.1/16"})


def test_callers_are_known_by_keys_unless_the_setting_says_otherwise() -> None:
    claims = {"JWT_NAMESPACE_CLAIM": "ns", "JWT_ROLE_CLAIM": "role"}
    assert Settings.read({}).auth.mode == "keys"
    assert Settings.read({"AUTH_MODE": "iam", **claims}).auth.mode == "iam"
    assert Settings.read({"AUTH_MODE": "jwt", **claims}).auth == Auth("jwt", "ns", "role")
    with pytest.raises(SettingsError, match="AUTH_MODE must be one of keys, iam, jwt, not 'none'"):
        Settings.read({"AUTH_MODE": "none"})
    with pytest.raises(SettingsError, match="JWT_NAMESPACE_CLAIM and JWT_ROLE_CLAIM must name claims"):
        Settings.read({"AUTH_MODE": "jwt", "JWT_ROLE_CLAIM": "role"})


def test_a_stack_has_all_metrics_and_those_of_namespaces_only_where_the_settings_say_so() -> None:
    plain = Settings.read({"METRICS": "default"})
    assert plain == Settings.read({})
    for level in ("default", "all", "namespaces"):
        assert Settings.read({"METRICS": level}).metrics == level
    with pytest.raises(SettingsError, match="METRICS must be one of default, all, namespaces, not 'some'"):
        Settings.read({"METRICS": "some"})
