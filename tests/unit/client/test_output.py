"""Tables have local times, JSON is exact, and no text of others controls the terminal."""

import datetime as dt
import io
import json

import pytest

from sweephand_client.commands.forms import Form
from sweephand_client.commands.output import Output

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
