"""Reads a `curl` command of the documentation as the request that it sends."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Final

#: The options of curl that the documentation uses. Each takes a value.
_TAKES_VALUE: Final = frozenset({"-X", "-H", "-d"})

#: The options without a value. With them, curl takes an address as it is written.
_FLAGS: Final = frozenset({"-g", "--path-as-is"})


@dataclass(frozen=True, slots=True)
class Curl:
    """A request. `url` is the path with the query, and the names of `headers` are in lower case."""

    method: str
    url: str
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def read_curl(command: str, variables: Mapping[str, str]) -> Curl:
    """The request of a command, with the values of its shell variables.

    Raises ValueError for another program, an unknown option or several addresses, and for an address that
    curl would change. Raises KeyError for an unset variable.
    """
    # A shell does not replace variables within single quotes. No example has a dollar there.
    joined = command.replace("\\\n", " ")
    program, *words = shlex.split(Template(joined).substitute(variables))
    if program != "curl":
        raise ValueError(f"the program is {program}, not curl")
    options: dict[str, list[str]] = {name: [] for name in _TAKES_VALUE}
    addresses = []
    as_written = set()
    left = iter(words)
    for word in left:
        if word in _TAKES_VALUE:
            options[word].append(next(left))
        elif word in _FLAGS:
            as_written.add(word)
        elif word.startswith("-"):
            raise ValueError(f"unknown option: {word}")
        else:
            addresses.append(word)
    (address,) = addresses
    if "-g" not in as_written and not set("[]{}").isdisjoint(address):
        raise ValueError(f"curl reads {address} as a pattern")
    if "--path-as-is" not in as_written and "/.." in address:
        raise ValueError(f"curl resolves the dots in {address}")
    path = "/" + address.partition("://")[2].partition("/")[2]
    headers = dict(each.split(": ", 1) for each in options["-H"])
    return Curl(
        method=options["-X"][0] if options["-X"] else "GET",
        url=path,
        body=options["-d"][0] if options["-d"] else None,
        headers={name.lower(): value for name, value in headers.items()},
    )
