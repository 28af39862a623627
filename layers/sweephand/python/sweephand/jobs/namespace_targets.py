"""Where HTTP targets of a namespace may be: how an admin writes it, and whether a job's targets fit it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sweephand.base.errors import Violation, pointer
from sweephand.base.limits import NAMESPACE_HOSTS_MAX, NAMESPACE_NETWORKS_MAX
from sweephand.model.namespace import EVERYWHERE, AllowedTargets
from sweephand.targets.destinations import of_namespace, read_network, read_rule
from sweephand.targets.registry import target_host
from sweephand.targets.url import UrlError

HOSTS: Final = (
    f"The hosts that HTTP targets of the namespace may have: 1 to {NAMESPACE_HOSTS_MAX} (namespaceHostsMax). "
    "`*.example.com` stands for every host below example.com, and not for example.com itself. Without this "
    "list, every host is allowed that the stack allows."
)
NETWORKS: Final = (
    "The networks to whose addresses HTTP targets of the namespace may connect, as in 203.0.113.0/24: 1 to "
    f"{NAMESPACE_NETWORKS_MAX} (namespaceNetworksMax). Without this list, every address is allowed that the "
    "stack allows."
)


class _List(NamedTuple):
    """A list in `allowedTargets`: how each entry is read, how many there may be, and what the list means."""

    read: Callable[[str], object]
    most: int
    meaning: str


_LISTS: Final[Mapping[str, _List]] = {
    "hosts": _List(read_rule, NAMESPACE_HOSTS_MAX, HOSTS),
    "networks": _List(read_network, NAMESPACE_NETWORKS_MAX, NETWORKS),
}


def read_allowed_targets(written: Mapping[str, Any]) -> tuple[AllowedTargets, list[Violation]]:
    """`allowedTargets`, whose shape is right, with each entry in its one form; and what is wrong with it."""
    found: list[Violation] = []
    read: dict[str, tuple[str, ...]] = {}
    for name, rules in _LISTS.items():
        entries = written.get(name)
        read[name], wrong = ((), []) if entries is None else _read_list(name, entries, rules)
        found += wrong
    return AllowedTargets(**read), found


def place_violations(allowed: AllowedTargets, spec: Mapping[str, Any] | None, at: str) -> list[Violation]:
    """The violation of a valid target that is not where the namespace allows; else empty.

    `at` is the JSON pointer of the target. Each delivery judges the addresses of a host name.
    """
    host = None if spec is None or allowed == EVERYWHERE else target_host(spec)
    refusal = None if host is None else of_namespace(allowed).refusal(host)
    return [] if refusal is None else [Violation(f"{at}/url", refusal)]


def _read_list(name: str, entries: Sequence[str], rules: _List) -> tuple[tuple[str, ...], list[Violation]]:
    at = ("allowedTargets", name)
    if not 1 <= len(entries) <= rules.most:
        return (), [Violation(pointer(*at), f"Must have 1 to {rules.most} entries. {rules.meaning}")]
    read: list[str] = []
    found: list[Violation] = []
    for number, text in enumerate(entries):
        try:
            read.append(str(rules.read(text)))
        except UrlError as error:
            found.append(Violation(pointer(*at, number), str(error)))
    return tuple(dict.fromkeys(read)), found
