"""docs/eventbridge.md: its commands run, and its table has every field of a schedule."""

import re
from typing import Any, Final

import botocore.session
import pytest
from tests.unit.client.conftest import CommandLine
from tests.unit.client.eventbridge.conftest import FUNCTION, Account
from tests.unit.docs.blocks import ROOT, blocks
from tests.unit.docs.test_shell_blocks import simple_commands

from sweephand_client.commands import eventbridge

PAGE: Final = ROOT / "docs" / "eventbridge.md"

#: Kinds of targets that Sweephand does not have.
OF_OTHER_TARGETS: Final = {
    "EcsParameters",
    "EventBridgePutEventsV2Parameters",
    "EventBridgePutRawEventsParameters",
    "KinesisParameters",
    "SageMakerPipelineParameters",
}


def test_the_commands_of_the_page_move_the_schedules(
    account: Account, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eventbridge, "sleep", lambda _: None)
    monkeypatch.chdir(sweephand.home)
    account.put("nightly")
    account.put("hourly", "rate(1 hour)", Target={"Arn": FUNCTION})
    ran = [words for block in blocks(PAGE, "sh") for words in simple_commands(block)]
    for program, *words in ran:
        assert program == "sweephand"
        sweephand.ok(*words, SWEEPHAND_NAMESPACE=None)
    assert len(ran) == 4
    assert set(account.states().values()) == {"DISABLED"}
    names = [each["name"] for each in sweephand.ok("job", "list", "-n", "default", "--json").json]
    assert names == ["hourly", "nightly"]


def test_the_table_has_every_field_of_a_schedule() -> None:
    model = botocore.session.Session().get_service_model("scheduler")
    shapes: list[Any] = [model.shape_for(name) for name in ("CreateScheduleInput", "Target")]
    fields = {name for shape in shapes for name in shape.members} - {"ClientToken", *OF_OTHER_TARGETS}
    rows = re.findall(r"^\| (`.+?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`([A-Z]\w+)`", row)} - {"DELETE"}
    assert told == fields


def test_the_rights_of_the_page_are_those_of_the_calls_that_are_made(
    account: Account, sweephand: CommandLine
) -> None:
    account.put("nightly")
    told = set(re.findall(r"`scheduler:(\w+)`", PAGE.read_text("utf-8")))
    called: set[str] = set()
    begin = botocore.session.Session.create_client
    with pytest.MonkeyPatch.context() as patched:

        def recorded(*given: object, **options: object) -> object:
            client = begin(*given, **options)  # type: ignore[arg-type]
            client.meta.events.register("before-call", lambda model, **_: called.add(model.name))
            return client

        patched.setattr(botocore.session.Session, "create_client", recorded)
        sweephand.ok("import", "eventbridge", "--disable-source")
    assert called == told


def test_the_client_of_the_page_makes_a_job(sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEPHAND_URL", sweephand.server.url)
    monkeypatch.setenv("SWEEPHAND_KEY", "sh_admin")
    (block,) = blocks(PAGE, "python")
    exec(block.text, {})  # noqa: S102 - the page of this repository
    job = sweephand.ok("job", "get", "report", "-n", "default", "--json").json
    assert job["data"] == "sent at <aws.scheduler.scheduled-time>"
