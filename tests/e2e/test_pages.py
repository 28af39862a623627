"""Every command of the recipes and of the pages about targets runs on a local stack, and has its effect."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from infra.local.client import Client
from infra.local.places import ROOT
from tests.e2e.page import PageRunner
from tests.e2e.schedule import eventually

from sweephand.targets.registry import default_target_types

#: The jobs of each page about a target. All of their triggers succeed.
TARGETS: Final = {
    "http": ("order-1", "order-2"),
    "sqs": ("order-1", "order-2"),
    "lambda": ("order-1", "order-2"),
    "sns": ("order-1",),
    "eventbridge": ("order-1",),
    "stepfunctions": ("order-1",),
}
#: A part of what the commands of each page print.
SHOWN: Final = {
    "http": '"specversion"',
    "sqs": '"Body": "{\\"order\\":2}"',
    "lambda": '"order-2"',
    "sns": '"Body": "{\\"order\\":1}"',
    "eventbridge": "Order due",
    "stepfunctions": '"executions"',
}

PAGES: Final = ("recipes", *(f"targets/{name}" for name in TARGETS))


@pytest.fixture(scope="module")
def pages(
    stack: Mapping[str, Any], client: Client, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageRunner]:
    """All pages, whose commands run at the same time."""
    runner = PageRunner(stack, client, tmp_path_factory.mktemp("pages"))
    for name in PAGES:
        runner.begin(name)
    yield runner
    runner.end()


def test_the_recipes_do_what_they_say(pages: PageRunner) -> None:
    page = pages.page("recipes")
    assert page.bodies("/publish", 1) == [b'{"article":4711}']
    assert page.bodies("/report", 1) == [b'{"report":"sales"}']
    assert page.bodies("/cart/42", 1) == [b'{"click":2}']
    assert len(page.bodies("/sent", 1)) == 1
    assert [len(page.bodies(f"/mail/{index}", 1)) for index in range(6)] == [1] * 6
    pings = page.inbox.wait("/health", 3)
    assert {(each.method, each.body) for each in pings} == {("GET", b"")}
    assert page.schedule.runs("ping") == []
    assert page.bodies("/job/backup", 2) == [b'{"db":"prod"}'] * 2


def test_a_reminder_of_an_actor_fires_at_its_period_until_its_ttl(pages: PageRunner) -> None:
    page = pages.page("recipes")
    came = page.inbox.wait("/actors/order/42/method/remind/unpaid", 3)
    assert {(each.method, each.body, each.headers["sweephand-job"]) for each in came} == {
        ("PUT", b'{"since":"noon"}', "order:42:unpaid")
    }
    job = page.schedule.path("order:42:unpaid")
    eventually(lambda: [page.schedule.client.ask("GET", job)["state"]], lambda state: state == "completed")
    assert len(page.inbox.to("/actors/order/42/method/remind/unpaid")) == 3
    assert '"nextRun"' in page.printed
    listed = page.schedule.client.ask("GET", page.schedule.path("")[:-1])["items"]
    assert "order:42:late" not in {each["name"] for each in listed}


@pytest.mark.parametrize("kind", TARGETS)
def test_the_page_of_a_target_does_what_it_says(pages: PageRunner, kind: str) -> None:
    page = pages.page(f"targets/{kind}")
    assert SHOWN[kind] in page.printed
    runs = [page.schedule.state_of(name, "succeeded") for name in TARGETS[kind]]
    assert {each["attempts"] for each in runs} == {1}
    if kind == "lambda":
        assert runs[-1]["answer"] == '{"taken": 2}'


def test_every_target_has_a_page() -> None:
    assert set(TARGETS) == set(default_target_types())
    assert {f"targets/{each.stem}" for each in (ROOT / "docs" / "targets").glob("*.md")} < set(PAGES)
