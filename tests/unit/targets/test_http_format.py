"""The format of HTTP requests, and the headers that it sets."""

from typing import Any

import pytest
from tests.fakes.targets import HTTP, pointers

from sweephand.targets.http import http_target


@pytest.mark.parametrize("form", ["json", "cloudevents", "cloudevents-binary"])
def test_a_format_is_accepted_with_headers_of_the_job(form: str) -> None:
    assert pointers(HTTP | {"format": form, "headers": {"x-team": "ops"}}) == []


@pytest.mark.parametrize("form", ["", "cloudevent", "CloudEvents", 1, ["json"]])
def test_another_format_is_refused(form: object) -> None:
    assert pointers(HTTP | {"format": form}) == ["/target/format"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_event_needs_a_body(method: str) -> None:
    spec = HTTP | {"format": "cloudevents", "method": method}
    assert pointers(spec, has_data=False) == ["/target/format"]
    assert pointers(spec | {"format": "json"}, has_data=False) == []


@pytest.mark.parametrize("form", ["cloudevents", "cloudevents-binary"])
@pytest.mark.parametrize("name", ["Content-Type", "ce-id", "CE-Source"])
def test_the_headers_of_an_event_are_not_the_jobs(form: str, name: str) -> None:
    headers = {name: "x", "x-team": "ops"}
    assert pointers(HTTP | {"format": form, "headers": headers}) == [f"/target/headers/{name}"]
    assert pointers(HTTP | {"headers": headers}) == []
    target = http_target(HTTP | {"format": form, "headers": headers}, allow_insecure=False)
    assert target.headers == {"x-team": "ops"}


@pytest.mark.parametrize("headers", [5, [], None])
def test_headers_that_are_none_are_judged_once(headers: Any) -> None:
    found = pointers(HTTP | {"format": "cloudevents", "headers": headers})
    assert found == ["/target/headers"]
