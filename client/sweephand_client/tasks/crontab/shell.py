"""Reads the command of a crontab line as far as a job can say the same."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

When = Literal["succeeded", "failed", "always"]

#: When the command behind an operator runs (docs/crontab.md, "Several commands").
_WHEN: Final[dict[str, When]] = {"&&": "succeeded", "||": "failed", ";": "always"}

#: Words that change the shell itself, or that only its grammar knows (POSIX.1-2024, XCU 2.4 and 2.15). As a
#: job of its own, `cd` would move nobody.
_OF_SHELL: Final = re.compile(
    r"cd|pushd|popd|\.|source|export|unset|set|umask|ulimit|alias|trap|wait|read|eval|exec|exit|if|then"
    r"|elif|else|fi|for|while|until|do|done|case|esac|select|function|!|\{|\}|\[\["
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a chain: its program and arguments, and when it runs after the one before it.

    `overlap` is what `flock` asks for. `is_shell`: only a shell understands the command, so it stays whole.
    """

    words: tuple[str, ...]
    when: When | None = None
    overlap: Literal["skip", "wait"] | None = None
    is_shell: bool = False

    @property
    def name(self) -> str:
        """The program without its folders and its extension."""
        return PurePosixPath(self.words[0]).stem if self.words else ""


def split_input(command: str) -> tuple[str, str | None]:
    r"""The command before the first percent sign, and its standard input behind it; None without one.

    `\%` is a percent sign, and each further `%` is a new line (crontab(5)).
    """
    parts: list[str] = [""]
    left = iter(command)
    for character in left:
        if character == "\\":
            following = next(left, "")
            parts[-1] += "%" if following == "%" else character + following
        elif character == "%":
            parts.append("")
        else:
            parts[-1] += character
    return parts[0].strip(), "\n".join(parts[1:]) if len(parts) > 1 else None


def read_steps(command: str) -> list[Step]:
    """The commands of a chain. A command that needs a shell is one step.

    Its words are the program, and all else as one text.

    Raises ValueError for a quotation that does not end.
    """
    words = _words(command)
    if any(_needs_shell(word, command) for word in words):
        return [_with_lock(Step(tuple(_program(command)), is_shell=True))]
    steps: list[Step] = []
    when: When | None = None
    part: list[str] = []
    for word in [*words, None]:
        if word is not None and word not in _WHEN:
            part.append(word)
            continue
        if part and _is_of_shell(part):
            return [Step(tuple(_program(command)), is_shell=True)]
        if part:
            steps.append(_with_lock(Step(tuple(part), when)))
        elif word is not None:
            return [Step(tuple(_program(command)), is_shell=True)]
        part = []
        when = None if word is None else _WHEN[word]
    return steps


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _needs_shell(word: str, command: str) -> bool:
    """Whether a word is an operator that a job cannot say, or is replaced by a shell."""
    if set(word) <= set("();<>|&") and word:
        return word not in _WHEN
    return any(each in word for each in "$`*") and any(each in command for each in "$`*")


def _is_of_shell(words: Sequence[str]) -> bool:
    """Whether only a shell understands the words of one command: an assignment, a builtin, or `~`."""
    program, *given = words
    is_home = any(each.startswith("~") for each in given)
    return bool(_OF_SHELL.fullmatch(program) or _ASSIGNMENT.match(program)) or is_home


def _program(command: str) -> list[str]:
    """The program of a command, and the text behind it.

    Behind assignments it is the whole text: a job that was named by an assignment would show its value.
    """
    first, _, rest = command.partition(" ")
    if not _ASSIGNMENT.match(first):
        return [first, rest] if rest else [first]
    program = next((each for each in command.split() if not _ASSIGNMENT.match(each)), "")
    return [program, command]


def _with_lock(step: Step) -> Step:
    """The step without `flock`, and with what it asks for instead."""
    if step.name != "flock" or step.is_shell:
        return step
    waits, words = True, list(step.words[1:])
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-n", "--nb", "--nonblock"):
            waits = False
        elif option in ("-x", "-e", "--exclusive"):
            continue
        else:
            return step  # another option, such as a time: overlap cannot say the same
    if len(words) < 2 or words[1].startswith("-"):  # noqa: PLR2004 - a lock and a command
        return step
    return Step(tuple(words[1:]), step.when, "wait" if waits else "skip")


def arguments(words: Sequence[str]) -> list[str]:
    """The words behind the program."""
    return list(words[1:])
