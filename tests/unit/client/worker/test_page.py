"""The examples of docs/worker.md are those of this worker."""

import configparser
import json
import re
import shlex
from typing import Final

from tests.unit.docs.blocks import ROOT, blocks
from typer.main import get_command

from sweephand_client.commands.main import app
from sweephand_client.worker.commands_file import RULES, read_commands_file, seconds
from sweephand_client.worker.process import KILL_AFTER_S

PAGE: Final = ROOT / "docs" / "worker.md"
TEXT: Final = PAGE.read_text("utf-8")


def options(words: list[str]) -> dict[str, str]:
    """The options of a command line that begins with `sweephand worker`. Each takes a value that exists."""
    assert [words[0].rpartition("/")[2], words[1]] == ["sweephand", "worker"]
    given = dict(zip(words[2::2], words[3::2], strict=True))
    command = get_command(app).commands["worker"]  # type: ignore[attr-defined]
    assert given.keys() <= {name for each in command.params for name in each.opts}
    return given


def test_the_file_of_the_page_can_be_used() -> None:
    file = read_commands_file(next(blocks(PAGE, "yaml")).text, "commands.yaml")
    assert file.namespace == "web1"
    assert {*file.commands} == {"poll", "backup", "report-*"}


def test_the_page_has_every_field_of_a_command() -> None:
    assert re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE) == [*RULES]


def test_the_command_lines_of_the_page_are_those_of_the_worker() -> None:
    (line,) = (each.text for each in blocks(PAGE, "text"))
    assert options(shlex.split(line)).keys() == {"--commands", "--queue"}
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", next(blocks(PAGE, "dockerfile")).text, re.MULTILINE)
    assert options(json.loads(entry)).keys() == {"--commands", "--health"}


def test_the_unit_of_the_page_lets_the_worker_stop_gracefully() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.read_string(next(blocks(PAGE, "ini")).text)
    service = unit["Service"]
    grace_s = seconds(options(service["ExecStart"].split())["--grace"])
    assert service["KillMode"] == "mixed"
    assert seconds(service["TimeoutStopSec"].replace("min", "m")) > grace_s + 2 * KILL_AFTER_S
