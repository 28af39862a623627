"""Placeholders in an HTTP target: what differs from trigger to trigger in its path, query and headers."""

import re
from typing import Final

from sweephand.base.instants import rfc3339
from sweephand.base.spelling import suggestion
from sweephand.model.trigger import Trigger

#: Every placeholder that there is.
NAMES: Final = ("attempt", "due", "index")

# `re` compiles a pattern when it is first used, so that importing this module stays cheap.
_PLACEHOLDER: Final = r"\{\{([^{}]*)\}\}"

#: What is left of a placeholder that is written wrongly. Two braces that close are none by themselves, since
#: JSON has them. It never has two that open.
_LEFTOVER: Final = r"(?:\{|%7b){2}(?:(?:[^{}%]|%20)*(?:\}|%7d){2})?|\{?(?:attempt|due|index)\}\}"


def placeholder_problem(text: str) -> str | None:
    """What is wrong with the placeholders in a text; None if Sweephand knows them all.

    Without this, a placeholder that is percent-encoded or lacks a brace would be sent as it is written.
    """
    for name in re.findall(_PLACEHOLDER, text):
        if name not in NAMES:
            meant = suggestion(name, NAMES)
            known = ", ".join(f"{{{{{each}}}}}" for each in NAMES)
            return f"There is no placeholder {{{{{name}}}}}.{meant} The placeholders are: {known}."
    left = re.search(_LEFTOVER, re.sub(_PLACEHOLDER, " ", text), re.IGNORECASE)
    if left is None:
        return None
    return (
        f"{left[0]} is no placeholder. Write it as {{{{{_meant(left[0])}}}}}, without spaces and not "
        "percent-encoded. Two braces that open always begin a placeholder."
    )


def _meant(leftover: str) -> str:
    """The name that a wrong placeholder probably stands for."""
    return next((each for each in NAMES if each in leftover.lower()), "index")


def around(text: str) -> list[str]:
    """The parts of a header's value between its placeholders."""
    return re.sub(_PLACEHOLDER, "\n", text).split("\n")  # no header has a line break


def filled(text: str, trigger: Trigger, attempt: int) -> str:
    """The text with the values of that attempt at a trigger.

    `{{due}}` is the due time of the occurrence (RFC 3339), `{{index}}` the index in its batch, `{{attempt}}`
    the number of the attempt. Their characters need no encoding in a path, a query or a header. Any other
    text in braces stays as it is: the job may be older than the rule that refuses it.
    """
    if "{{" not in text:
        return text
    values = {"due": rfc3339(trigger.due_at), "index": str(trigger.index), "attempt": str(attempt)}
    return re.sub(_PLACEHOLDER, lambda found: values.get(found[1], found[0]), text)
