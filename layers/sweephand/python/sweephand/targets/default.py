"""The target type `default`: the default target of the job's namespace, or a path below its URL.

The delivery function replaces such a target by what it stands for (`resolved`). So a new default reaches
every job of the namespace (decision 080).
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from sweephand.base.errors import Violation
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import TARGET_TIMEOUT_S_MAX, URL_LENGTH_MAX
from sweephand.base.names import text_schema
from sweephand.targets import http
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import Field, TargetType

NAME: Final = "default"

#: A job that is written without a target has this one.
DEFAULT_TARGET: Final[dict[str, Any]] = {"type": NAME}

#: Stands for the base URL while a path is judged by itself.
_ANY_BASE: Final = "https://example.com"

#: A server may read these segments as a way out of the base URL's path (WHATWG URL, "double-dot segment").
_DOT_SEGMENTS: Final = (".", "..")

#: Where a server may end a segment (WHATWG URL reads a backslash as a slash).
_SEGMENT_ENDS: Final = r"[/\\]"

#: Where a server may end the name of a segment: at its parameters (RFC 3986, 3.3), at the end of the path, at
#: a blank or at a control character.
_NAME_ENDS: Final = r"[;?#\x00-\x20]"

_NO_DOT_SEGMENTS: Final = "Leave out the segments . and .., also percent-encoded and before a semicolon."


def resolved(default: Mapping[str, Any], spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The target that a `spec` of this type stands for, by the default target of its namespace.

    Fields of the job replace those of the default. Headers of both are sent. Of two headers with one name,
    the job's is sent. A path is appended to the URL of the default. If both have a query, the default's comes
    last.
    """
    own = {name: value for name, value in spec.items() if name not in ("type", "path", "headers")}
    found = {**default, **own}
    if "path" in spec:
        found["url"] = _joined(default.get("url", ""), spec["path"])
    if "headers" in spec:
        replaced = {name.lower() for name in spec["headers"]}
        kept = {
            name: value for name, value in default.get("headers", {}).items() if name.lower() not in replaced
        }
        found["headers"] = {**kept, **spec["headers"]}
    return found


def takes(default: Mapping[str, Any], spec: Mapping[str, Any]) -> list[Violation]:
    """The fields of a `spec` of this type that its default target cannot take; empty if it takes all."""
    if default.get("type") == http.TYPE.name:
        return []
    detail = (
        f"Leave it out: the namespace's defaultTarget is of type {default.get('type')}, and only one of type "
        "http takes it."
    )
    return [Violation(f"/{name}", detail) for name in spec if name != "type"]


def _joined(base: str, path: str) -> str:
    base, _, base_query = base.partition("?")
    path, _, query = path.partition("?")
    queries = "&".join(each for each in (query, base_query) if each)
    return base.rstrip("/") + path + (f"?{queries}" if queries else "")


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:
    path = spec.get("path", "/")
    found = _path_violations(path)
    url = _ANY_BASE if found else _ANY_BASE + path
    as_http = {**{name: value for name, value in spec.items() if name != "path"}, "url": url}
    of_http = http.TYPE.rules(as_http, has_data=has_data, reach=reach)
    return found + [each._replace(pointer=each.pointer.replace("/url", "/path", 1)) for each in of_http]


def _path_violations(path: object) -> list[Violation]:
    if not isinstance(path, str) or not path.startswith("/"):
        return [Violation("/path", 'Give a path that begins with a slash, as in "/reminders/7".')]
    if len(path) > URL_LENGTH_MAX:
        return [Violation("/path", f"Give at most {URL_LENGTH_MAX} characters (urlLengthMax).")]
    segments = re.split(_SEGMENT_ENDS, _decoded(path.partition("?")[0]))
    if any(re.split(_NAME_ENDS, each, maxsplit=1)[0] in _DOT_SEGMENTS for each in segments):
        return [Violation("/path", _NO_DOT_SEGMENTS)]
    return []


def _decoded(path: str) -> str:
    """The path without percent-encodings. A proxy may decode a path before the server decodes it again."""
    while (decoded := unquote(path)) != path:
        path = decoded
    return path


TYPE: Final = TargetType(
    name=NAME,
    summary="The default target of the namespace.",
    description="The `defaultTarget` in the settings of the namespace, as it is at each delivery. The fields "
    "besides `type` are for a default of type http. They replace its own.",
    own_fields=(
        Field(
            "path",
            text_schema(r'^/[!"$-\[\]-~]*$', URL_LENGTH_MAX),
            "Appended to the URL of the default: a path, and a query if needed. It may have the placeholders "
            "of a URL.",
        ),
        *(each for each in http.TYPE.own_fields if each.name != "url"),
    ),
    rules=_violations,
    attempt_ms_max=lambda _: TARGET_TIMEOUT_S_MAX * SECOND_MS,
    delivery=None,
    secret_refs=http.TYPE.secret_refs,
    is_default=True,
)
