"""What an operator does: lines of a shell, and clicks, choices and texts in the console. How they count."""

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from infra.tasks.scene import Scene

#: Where the next program of a line begins: after a pipe or a semicolon, in a substitution or a loop.
_NEXT: Final = re.compile(r"\$\(|\||&&|;|\n|\bdo\b")

#: The words of a shell that run no program.
_NO_PROGRAM: Final = frozenset({"for", "while", "done", "read", ")", ""})


class Click(NamedTuple):
    """A click on what has this name: a button, a link, a box or a summary."""

    name: str


class Type(NamedTuple):
    """A text typed into the field with this label."""

    label: str
    text: str


class Choose(NamedTuple):
    """A choice in the field with this label."""

    label: str
    option: str


class Press(NamedTuple):
    """A key."""

    key: str


Step: TypeAlias = Click | Type | Choose | Press
Where: TypeAlias = Literal["commands", "clicks"]

#: Where a way is, and whether it is that of now.
Place: TypeAlias = tuple[Where, bool]


class Way(NamedTuple):
    """One way to do a task, which shows the texts `shown` at the end. If there is none, `why` says why."""

    lines: tuple[str, ...] = ()
    steps: tuple[Step, ...] | None = None
    why: str = ""
    shown: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether the task can be done so."""
        return not self.why

    @property
    def size(self) -> int:
        """How many programs are called, or how many steps are made in the console."""
        return sum(map(programs, self.lines)) if self.steps is None else len(self.steps)

    def showing(self, *texts: str) -> "Way":
        """The same way, which shows these texts at the end."""
        return self._replace(shown=texts)

    @property
    def digest(self) -> str:
        """Changes with each step."""
        return hashlib.sha256(repr((self.lines, self.steps)).encode()).hexdigest()[:12]


def shell(*lines: str) -> Way:
    """A way by these lines of a shell."""
    return Way(lines=lines)


def clicks(*steps: Step) -> Way:
    """A way by these steps in the console, from the overview of the namespace on."""
    return Way(steps=steps)


def none(why: str) -> Way:
    """No way, for this reason."""
    return Way(why=why)


class Task(NamedTuple):
    """What an operator wants, and how: `before` at the commit that is compared with, and now.

    `prepare` makes its scene. Afterwards `holds`, and each way shows the texts `shown`.
    """

    name: str
    prepare: Callable[["Scene"], None]
    commands_before: Way
    commands: Way
    clicks_before: Way
    clicks: Way
    shown: tuple[str, ...] = ()
    holds: Callable[["Scene"], bool] = lambda _: True

    def ways(self) -> dict[Place, Way]:
        """The four ways by their places."""
        return {
            ("commands", False): self.commands_before,
            ("commands", True): self.commands,
            ("clicks", False): self.clicks_before,
            ("clicks", True): self.clicks,
        }


def programs(line: str) -> int:
    """How many programs a line of a shell calls. The words of a loop call none."""
    parts = _NEXT.split(_without_quotes(line))
    words = map(_first_word, parts)
    return sum(each not in _NO_PROGRAM and not each.endswith("=") for each in words)


def _first_word(part: str) -> str:
    words: Sequence[str] = part.strip().split()
    return words[0].rstrip(")") if words else ""


def _without_quotes(line: str) -> str:
    """The line without what stands in quotes, which a program gets as it is."""
    return re.sub(r"'[^']*'", "''", line)
