"""What a job says comes through an export whole, and an export harms no terminal."""

from pathlib import Path

from tests.unit.client.conftest import CommandLine

from sweephand_client.api.client import Client
from sweephand_client.http import exact_json
from sweephand_client.openapi.requests import JobRequest

JOB: JobRequest = {"schedule": "@hourly", "target": {"type": "http", "url": "https://consumer.example/hook"}}


def test_characters_that_end_lines_elsewhere_come_through_a_file(
    sweephand: CommandLine, client: Client, tmp_path: Path
) -> None:
    data = ["a\x85b", "\u2028", "c\u2029"]
    client.jobs.put("ns", "job", {**JOB, "data": data})
    path = str(tmp_path / "ns.jsonl")
    sweephand.ok("export", "--file", path)
    sweephand.ok("import", path, "-n", "copy")
    assert client.jobs.get("copy", "job")["data"] == data


def test_an_export_has_long_numbers_and_shows_no_character_that_controls_a_terminal(
    sweephand: CommandLine, client: Client
) -> None:
    numbers = [exact_json.read(each) for each in ("9" * 5_000, "1e" + "9" * 20)]
    data = [*numbers, "\x9b2J\u202e\u2066\u200f\U000e0001"]
    client.jobs.put("ns", "job", {**JOB, "data": data})

    lines = sweephand.ok("export").out
    assert [each for each in lines if not each.isprintable() and each != "\n"] == []
    sweephand.ok("import", "-", "-n", "copy", given=lines)

    assert client.jobs.get("copy", "job")["data"] == data
    assert "9" * 5_000 in sweephand.ok("job", "get", "job").out
