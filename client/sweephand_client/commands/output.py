"""Prints results: tables with local times for people, data for programs."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sweephand_client.commands.forms import Form, written
from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError

Entry = TypeVar("Entry")

#: A list of so many entries shows a bar.
_LONG_LIST: Final = 200

#: Columns are so many characters apart, and a column that is cut keeps at least so many.
_GAP: Final = 2
_CUT_MIN: Final = 8

#: The colours of states.
_STYLES: Final[Mapping[str, str]] = {
    "active": "green",
    "succeeded": "green",
    "paused": "yellow",
    "retrying": "yellow",
    "waiting": "yellow",
    "failed": "red",
    "refused": "red",
}


class Output:
    """What one command prints. Results go to stdout, and everything else to stderr.

    `form` is that of results; None is a table or a sentence for people. `zone` is the time zone of tables;
    None is that of this machine.
    """

    def __init__(self, form: Form | None = None, zone: dt.tzinfo | None = None) -> None:
        self._form = form
        self._zone = zone
        self._console = Console(soft_wrap=True, highlight=False)
        self._errors = Console(stderr=True, soft_wrap=True, highlight=False)

    @property
    def is_data(self) -> bool:
        """Whether a program reads the results."""
        return self._form is not None

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], value: Any, shortened: Sequence[str] = ()
    ) -> None:
        """Print rows under the names of columns; as data print `value`.

        Of a table that is too wide for a terminal, the columns `shortened` are cut in this order, and then
        left out, until it fits. Other columns stay whole: a name that was cut could not be pasted.
        """
        if self.is_data:
            self.data(value)
            return
        texts = [[Text.from_markup(self._cell(each)) for each in row] for row in rows]
        widths = [max(map(_width, column)) for column in zip(columns, *_plain(texts), strict=True)]
        if shortened and self._console.is_terminal:
            widths = list(fitted(columns, widths, self._console.width, shortened))
        shown = [number for number, width in enumerate(widths) if width]
        table = Table(box=None, pad_edge=False, header_style="bold")
        for each in shown:
            table.add_column(columns[each], no_wrap=True, overflow="ellipsis", width=widths[each])
        for row in texts:
            table.add_row(*(row[each] for each in shown))
        # The terminal wraps lines that are still too long for it.
        needed = sum(widths[each] + _GAP for each in shown)
        self._console.width = max(self._console.width, needed)
        self._console.print(table, soft_wrap=False, crop=False)
        if left_out := [each for each in shortened if each and widths[columns.index(each)] == 0]:
            self.note(f"The terminal is too narrow for {', '.join(left_out)}.")

    def fields(self, value: Mapping[str, Any]) -> None:
        """Print the fields of one thing below each other; as data print it whole."""
        if self.is_data:
            self.data(value)
            return
        width = max((len(name) for name in value), default=0)
        for name, each in value.items():
            self._console.print(f"[bold]{escape(name.ljust(width))}[/bold]  {self._cell(each)}")

    def done(self, text: str, value: Any) -> None:
        """Print a sentence about what was done; as data print `value`."""
        if self.is_data:
            self.data(value)
        else:
            self.text(text)

    def text(self, text: str) -> None:
        """Print a text."""
        self._console.print(_shown(text))

    def clear(self) -> None:
        """Clear a terminal, before something is shown again. A file keeps all that is printed."""
        if not self.is_data:
            self._console.clear()

    def heading(self, text: str) -> None:
        """Print the heading of what follows."""
        self._console.print(f"[bold]{_shown(text)}[/bold]")

    def data(self, value: Any) -> None:
        """Print a value as data; as indented JSON if people read the results."""
        typer.echo(written(value, self._form or Form.JSON), nl=False)

    def line(self, value: Any) -> None:
        """Print a value as one part of a stream, at once: in JSON on one line."""
        if self._form in (None, Form.JSON):
            typer.echo(_json_text(value))
        else:
            typer.echo(written([value], self._form), nl=False)

    def note(self, text: str) -> None:
        """Print a sentence for people to stderr."""
        self._errors.print(_shown(text))

    def error(self, text: str, value: Mapping[str, Any]) -> None:
        """Print why the command failed to stderr; if a program reads the results, print `value` as JSON."""
        if self.is_data:
            typer.echo(_json_text(value), err=True)
        else:
            self._errors.print(f"[red]{_shown(text)}[/red]")

    def local(self, time: str | None) -> str:
        """A time of the API in the zone of the tables, to the second; a dash for None.

        The last hours of the year 9999 have no local time in the east. They stay as they are.
        """
        if time is None:
            return "-"
        try:
            at = dt.datetime.fromisoformat(time).astimezone(self._zone)
        except OverflowError:
            return time
        return at.strftime("%Y-%m-%d %H:%M:%S")

    @contextmanager
    def progress(self, text: str, total: int | None = None) -> "Iterator[_Bar]":
        """A bar while long work goes on. It disappears at the end, and shows only on a terminal.

        It is on stderr. If results are printed to the terminal too, it stays below them.
        """
        if not self._errors.is_terminal:
            yield _Bar(None, None)
            return
        bars: Any = import_module("rich.progress")  # no command without a bar pays for its import
        columns = (
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.TaskProgressColumn(),
            bars.TextColumn("{task.completed}"),
        )
        is_shared = self._console.is_terminal
        with bars.Progress(
            *columns,
            console=self._console if is_shared else self._errors,
            transient=True,
            # Else results would go where the bar is, and not to the file or pipe that stdout is.
            redirect_stdout=is_shared,
            redirect_stderr=is_shared,
        ) as progress:
            yield _Bar(progress, progress.add_task(text, total=total))

    def watched(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The entries of a list. While a long list is read, standard error shows a bar."""
        with ExitStack() as stack:
            bar: _Bar | None = None
            for number, each in enumerate(entries, 1):
                if number == _LONG_LIST:
                    bar = stack.enter_context(self.progress("reading"))
                    bar.step(number)
                elif bar is not None:
                    bar.step()
                yield each

    def _cell(self, value: Any) -> str:
        match value:
            case None:
                text = "-"
            case str() if value in _STYLES:
                return f"[{_STYLES[value]}]{value}[/]"
            case str():
                text = self.local(value) if _is_time(value) else value
            case bool():
                text = "yes" if value else "no"
            case _:
                text = exact_json.write(value)
        return _shown(text)


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _plain(texts: Iterable[Iterable[Text]]) -> Iterator[list[str]]:
    return ([each.plain for each in row] for row in texts)


def fitted(
    columns: Sequence[str], whole: Sequence[int], width: int, shortened: Sequence[str]
) -> Sequence[int]:
    """The widths of columns that together fit into `width`. A column that is left out has the width 0.

    `whole` are the widths that the columns need. Those of `shortened` are cut in this order, each down to its
    name and eight characters. If that does not do, they are left out in the same order.
    """
    widths = list(whole)
    cut = [columns.index(name) for name in shortened]

    def excess() -> int:
        kept = [each for each in widths if each]
        return sum(kept) + _GAP * (len(kept) - 1) - width

    for each in cut:
        least = min(whole[each], max(len(columns[each]), _CUT_MIN))
        widths[each] = max(least, widths[each] - max(excess(), 0))
    for each in cut:
        if excess() > 0:
            widths[each] = 0
    return widths


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file that gets its name only when it is whole. Only the user may read it.

    Jobs may hold secrets. InputError if the file cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600, exist_ok=False)
        with part.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from None
    finally:
        part.unlink(missing_ok=True)


def _shown(text: str) -> str:
    """A text for the console, with an escape sequence in place of each character that does not print.

    A consumer's answer could else control the terminal of the operator who reads it.
    """
    printable = (each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
    return escape("".join(printable))


def _json_text(value: Any) -> str:
    return exact_json.terminal_safe(exact_json.write(value))


class _Bar:
    """A progress bar, which draws nothing without a `progress`."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress = progress
        self._task = task

    def step(self, count: int = 1) -> None:
        """So many more are done."""
        if self._progress is not None:
            self._progress.advance(self._task, count)


def _is_time(text: str) -> bool:
    """Whether a text is a time as answers of the API have it: RFC 3339 in UTC with milliseconds."""
    if len(text) != len("2027-01-01T00:00:00.000Z") or text[10] != "T" or text[-1] != "Z":
        return False
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
