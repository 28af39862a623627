"""How a text that a caller may write is described in JSON Schema."""

from typing import Any


def text_schema(pattern: str, length_max: int, **more: Any) -> dict[str, Any]:
    """The JSON Schema of a text that is not empty.

    - `pattern` is a regular expression that the whole text matches: it begins with `^` and ends with `$`. It
      says how the text is written, and not what the text may mean.
    - `length_max` is counted in characters.
    - `more` are further keywords, such as `format`.

    The result is a new dict, which the caller may change.
    """
    return {"type": "string", "minLength": 1, "maxLength": length_max, "pattern": pattern, **more}
