"""Under which key of its policy a trigger counts (flow/gate_key.py)."""

from typing import Any

import pytest
from tests.contract.builders import EVERY_CHARACTER

from sweephand.flow.gate_key import gate_key, is_under
from sweephand.model.definition import Definition
from sweephand.model.policy_names import key_parts

LAMBDA = {"type": "lambda", "arn": "arn:aws:lambda:eu-west-1:123456789012:function:mail"}


def job(url: str = "https://API.Example.com:8443/hook?a=b", **written: Any) -> Definition:
    return Definition({"target": {"type": "http", "url": url}, **written})


@pytest.mark.parametrize(
    ("by", "of", "value"),
    [
        ("job", job(), "nightly"),
        ("host", job(), "api.example.com"),
        ("host", job("https://example.com./"), "example.com"),
        ("host", job("https://[2606:4700::1111]/"), "2606:4700::1111"),
        ("host", job(target=LAMBDA), ""),
        ("host", job(target={"type": "default"}), ""),
        ("host", job("no url"), ""),
        ("label:tenant", job(labels={"tenant": "acme", "other": "x"}), "acme"),
        ("label:tenant", job(labels={"tenant": "a:b#c\ud800"}), "a:b#c\ud800"),
        ("label:tenant", job(labels={"other": "x"}), ""),
        ("label:tenant", job(labels={"tenant": 5}), ""),
        ("label:tenant", job(), ""),
        ("label:host", job(labels={"host": ""}), ""),
    ],
)
def test_a_trigger_counts_under_the_value_of_its_job(by: str, of: Definition, value: str) -> None:
    key = gate_key(by, of, "nightly")
    assert key is not None
    assert key_parts(key) == (by, value)
    assert is_under(key, of, "nightly")
    assert not is_under(f"{key}x", of, "nightly")


def test_a_policy_without_by_has_no_keys() -> None:
    assert gate_key(None, job(), "nightly") is None
    assert is_under(None, job(), "nightly")


def test_the_empty_value_is_a_key_like_others() -> None:
    assert gate_key("label:tenant", job(), "nightly") == "label:tenant:"
    assert not is_under("label:tenant:", job(labels={"tenant": "acme"}), "nightly")


def test_a_job_that_has_another_label_counts_under_another_key() -> None:
    assert not is_under("label:tenant:acme", job(labels={"tenant": "other"}), "nightly")
    assert not is_under("host:example.com", job(), "nightly")
    assert not is_under("job:other", job(), "nightly")
    assert is_under(f"job:{EVERY_CHARACTER}", job(), EVERY_CHARACTER)
