"""Bulk writes to a stack: a call is repeated for the refused jobs, a limited number of times."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from infra.local.client import Client, RefusedError, write_jobs


class Api:
    """An API that refuses some jobs the first time, or each time. It keeps the names of each call."""

    def __init__(self, refused: Sequence[str] = (), *, for_ever: bool = False, fails: int = 0) -> None:
        self.calls: list[list[str]] = []
        self._refused = set(refused)
        self._for_ever = for_ever
        self._fails = fails

    def ask(self, method: str, path: str, body: Any) -> Any:
        assert (method, path) == ("POST", "/v1/namespaces/ns/jobs")
        names = [each["name"] for each in body["jobs"]]
        self.calls.append(names)
        if len(self.calls) <= self._fails:
            raise RefusedError("503")
        results = [{"name": name, "status": 503 if name in self._refused else 201} for name in names]
        if not self._for_ever:
            self._refused.clear()
        return {"results": results}


def write(api: Api, count: int) -> None:
    write_jobs(cast("Client", api), "ns", [{"name": f"job-{number}"} for number in range(count)])


def test_a_call_has_at_most_a_hundred_jobs() -> None:
    api = Api()
    write(api, 250)
    assert [len(each) for each in api.calls] == [100, 100, 50]


def test_a_call_is_made_again_for_the_jobs_that_were_refused() -> None:
    api = Api(["job-1", "job-3"])
    write(api, 5)
    assert api.calls[1:] == [["job-1", "job-3"]]


def test_a_call_that_fails_is_made_again() -> None:
    api = Api(fails=2)
    write(api, 3)
    assert len(api.calls) == 3


def test_a_job_that_is_always_refused_ends_the_writing_and_is_shown() -> None:
    api = Api(["job-1"], for_ever=True)
    with pytest.raises(RuntimeError, match=r"1 jobs of ns were not written in 4 calls: .*job-1.*503"):
        write(api, 3)
    assert len(api.calls) == 4
