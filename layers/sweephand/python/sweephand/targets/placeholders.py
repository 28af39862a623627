"""Placeholders in an HTTP target: what differs from trigger to trigger in its path, query and headers."""

import re
from typing import Final

from sweephand.base.instants import rfc3339
from sweephand.base.spelling import suggestion
from sweephand.model.trigger import Trigger

#: Every placeholder that there is.
NAMES: Final = ("attempt", "due", "index")

# `re` compiles the pattern when it is first used, so that importing this module stays cheap.
_PLACEHOLDER: Final = r"\{\{([^{}]*)\}\}"


def placeholder_problem(text: str) -> str | None:
    """What is wrong with the placeholders in a text; None if Sweephand knows them all."""
    for name in re.findall(_PLACEHOLDER, text):
        if name not in NAMES:
            meant = suggestion(name, NAMES)
            known = ", ".join(f"{{{{{each}}}}}" for each in NAMES)
            return f"There is no placeholder {{{{{name}}}}}.{meant} The placeholders are: {known}."
    return None


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
