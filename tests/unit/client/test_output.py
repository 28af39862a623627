"""Tables have local times, JSON is exact, and no text of others controls the terminal."""

import datetime as dt
import io
import json
import os
import re
import subprocess
import sys

import pytest
import typer

from sweephand_client.commands.forms import Form
from sweephand_client.commands.output import Output, fitted

TOKYO = dt.timezone(dt.timedelta(hours=9))
AT = "2026-11-21T18:00:00.999Z"
ESCAPES = "\x1b[2J\x9bA\x07\u202e\u2066\u061c\u200f\U000e0001[bold]x[/bold]"


def test_times_are_shown_in_the_zone_to_the_second(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(zone=TOKYO)
    output.table(("NAME", "NEXT"), [("a", AT), ("b", None)], [])
    assert capsys.readouterr().out.split() == ["NAME", "NEXT", "a", "2026-11-22", "03:00:00", "b", "-"]


def test_texts_that_only_look_like_times_stay(capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["2026-11-21T25:00:00.000Z", "2026-11-21T18:00:00Z", "x" * 24]
    Output(zone=TOKYO).fields(dict(zip("abc", texts, strict=True)))
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == texts


def test_a_time_that_has_no_local_time_stays(capsys: pytest.CaptureFixture[str]) -> None:
    Output(zone=TOKYO).fields({"ttl": "9999-12-31T23:59:59.999Z"})
    assert capsys.readouterr().out.split() == ["ttl", "9999-12-31T23:59:59.999Z"]


def test_a_long_table_is_not_cut(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    Output().table(("NAME",), [("x" * 300,)], [])
    assert "x" * 300 in capsys.readouterr().out


@pytest.mark.parametrize("form", [None, *Form])
def test_no_text_of_others_controls_the_terminal(
    capsys: pytest.CaptureFixture[str],
    form: Form | None,
) -> None:
    output = Output(form)
    output.table(("X",), [(ESCAPES,)], [ESCAPES])
    output.fields({"answer": ESCAPES, "list": [ESCAPES]})
    output.done(ESCAPES, ESCAPES)
    output.note(ESCAPES)
    output.error(ESCAPES, {"detail": ESCAPES})
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert text
        assert [each for each in text if not each.isprintable() and each != "\n"] == []
        assert "[bold]x[/bold]" in text


def test_json_keeps_every_character(capsys: pytest.CaptureFixture[str]) -> None:
    Output(Form.JSON).data({"answer": ESCAPES + "\u00e4\u20ac"})
    assert json.loads(capsys.readouterr().out) == {"answer": ESCAPES + "\u00e4\u20ac"}


def test_no_bar_is_drawn_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with Output().progress("exporting", 2) as bar:
        bar.step()
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    """A terminal that keeps what is printed."""

    def isatty(self) -> bool:
        return True


def test_a_bar_stays_below_the_lines_that_are_printed_to_the_same_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", terminal)
        patched.setattr("sys.stderr", terminal)
        output = Output()
        with output.progress("applying", 2) as bar:
            bar.step()
            output.text("poll created")
    assert "applying" in terminal.getvalue()
    assert "\x1b[2Kpoll created\n" in terminal.getvalue()


def test_lines_go_to_the_file_that_stdout_is_while_a_bar_is_drawn_on_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal, file = Terminal(), io.StringIO()
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", file)
        patched.setattr("sys.stderr", terminal)
        output = Output(Form.JSON)
        with output.progress("exporting", 2) as bar:
            bar.step()
            typer.echo("one line")
            output.data({"a": 1})
    assert "exporting" in terminal.getvalue()
    assert "one line" not in terminal.getvalue()
    assert file.getvalue() == 'one line\n{\n  "a": 1\n}\n'


@pytest.mark.parametrize(("entries", "is_drawn"), [(199, False), (200, True)])
def test_a_long_list_is_read_with_a_bar(
    monkeypatch: pytest.MonkeyPatch, entries: int, *, is_drawn: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", io.StringIO())
        patched.setattr("sys.stderr", terminal)
        assert list(Output(Form.JSON).watched(range(entries))) == list(range(entries))
    assert ("reading" in terminal.getvalue()) == is_drawn


COLUMNS = ("NAME", "ZONE", "TARGET")


@pytest.mark.parametrize(
    ("width", "widths"),
    [
        (100, (20, 13, 30)),
        (67, (20, 13, 30)),
        (60, (20, 13, 23)),
        (45, (20, 13, 8)),
        (43, (20, 11, 8)),
        (40, (20, 8, 8)),
        (39, (20, 8, 0)),
        (30, (20, 8, 0)),
        (29, (20, 0, 0)),
        (5, (20, 0, 0)),
    ],
)
def test_columns_are_cut_and_then_left_out_until_a_table_fits(width: int, widths: tuple[int, ...]) -> None:
    assert tuple(fitted(COLUMNS, (20, 13, 30), width, ("TARGET", "ZONE"))) == widths


def test_a_table_fits_its_terminal_and_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    row = ("n" * 20, "Europe/Paris", "https://consumer.example/hook")
    for width, left_out in ((60, None), (45, None), (30, "TARGET"), (25, "TARGET, ZONE")):
        monkeypatch.setenv("COLUMNS", str(width))
        terminal, errors = Terminal(), io.StringIO()
        with monkeypatch.context() as patched:
            patched.setattr("sys.stdout", terminal)
            patched.setattr("sys.stderr", errors)
            Output().table(COLUMNS, [row], [], shortened=("TARGET", "ZONE"))
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in terminal.getvalue().splitlines()]
        assert max(map(len, lines)) <= width
        assert row[0] in lines[1]
        said = "" if left_out is None else f"The terminal is too narrow for {left_out}.\n"
        assert errors.getvalue() == said


def ended(program: str, **environment: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of the command line if its app is that program."""
    done = subprocess.run(  # noqa: S603 - the Python of this environment
        [
            sys.executable,
            "-c",
            f"import os, sys\nfrom sweephand_client.commands import main\n{program}\nmain.main()",
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("characters", [10, 100_000])
def test_a_full_disk_is_told_and_is_no_difference(characters: int) -> None:
    full = f"sys.stdout = open('/dev/full', 'w'); main.app = lambda **_: print('x' * {characters})"
    assert ended(full) == (3, "", "The output cannot be written: No space left on device.\n")


def test_a_reader_that_has_left_is_no_error() -> None:
    left = "reads, writes = os.pipe(); os.close(reads); sys.stdout = open(writes, 'w')"
    assert ended(f"{left}; main.app = lambda **_: print('x')") == (0, "", "")


def test_a_character_that_the_locale_lacks_is_written_by_its_number() -> None:
    said = "main.app = lambda **_: print(chr(0x65e5))"
    assert ended(said, PYTHONIOENCODING="latin-1") == (0, "\\u65e5\n", "")
