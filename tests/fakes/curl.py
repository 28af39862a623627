"""A `curl` command of a page of the documentation, read as the request that it sends."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Final

#: Options that take a value, and whether each is one that the documentation uses.
_TAKES_VALUE: Final = frozenset({"-X", "-H", "-d"})


@dataclass(frozen=True, slots=True)
class Curl:
    """A request: its path with the query, its headers by lower-case name, and its body if it has one."""

    method: str
    url: str
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def read_curl(command: str, variables: Mapping[str, str]) -> Curl:
    """The request of a command; its shell variables take these values.

    Raises ValueError for what is no such command: an unknown option, several addresses, an unset variable.
    """
    # A shell does not look for variables within single quotes; no example has a dollar there.
    joined = command.replace("\\\n", " ")
    program, *words = shlex.split(Template(joined).substitute(variables))
    if program != "curl":
        raise ValueError(f"not curl but {program}")
    options: dict[str, list[str]] = {name: [] for name in _TAKES_VALUE}
    addresses = []
    left = iter(words)
    for word in left:
        if word in _TAKES_VALUE:
            options[word].append(next(left))
        elif word.startswith("-"):
            raise ValueError(f"an option that is not read here: {word}")
        else:
            addresses.append(word)
    (address,) = addresses
    path = "/" + address.partition("://")[2].partition("/")[2]
    headers = dict(each.split(": ", 1) for each in options["-H"])
    return Curl(
        method=options["-X"][0] if options["-X"] else "GET",
        url=path,
        body=options["-d"][0] if options["-d"] else None,
        headers={name.lower(): value for name, value in headers.items()},
    )
