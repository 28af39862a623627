"""Which hosts and networks HTTP targets may be in, besides what url.py refuses: by lists.

The operator of a stack has lists of what is allowed and of what is denied. An admin of a namespace has lists
of what is allowed. A target has to pass all of them.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple

from sweephand.model.namespace import AllowedTargets
from sweephand.targets.url import Networks, UrlError, embedded_ipv4, read_host

#: Before a name, it stands for every host below that name.
_BELOW: Final = "*."


class Destinations(NamedTuple):
    """The lists of a stack, or those of a namespace.

    A host is written as read_rule() returns it. What is denied is denied although it is allowed, too. An
    empty list of what is allowed allows everything.
    """

    allowed_hosts: tuple[str, ...] = ()
    denied_hosts: tuple[str, ...] = ()
    allowed_networks: Networks = ()
    denied_networks: Networks = ()
    are_of_namespace: bool = False

    def host_refusal(self, host: str) -> str | None:
        """Why no target may have that host, as a sentence that says what would be right; None if it may.

        `host` is that of a Url.
        """
        name = host.rstrip(".")
        if any(_matches(rule, name) for rule in self.denied_hosts):
            return (
                f"This stack does not deliver to {name}, which its parameter DeniedTargetHosts names. Give "
                "another host, or have its operator change that list."
            )
        if not self.allowed_hosts or any(_matches(rule, name) for rule in self.allowed_hosts):
            return None
        if self.are_of_namespace:
            return (
                f"The namespace does not deliver to {name}: give a host that `allowedTargets.hosts` in its "
                "settings names, or have an admin add this one there."
            )
        return (
            f"This stack does not deliver to {name}: give a host that its parameter AllowedTargetHosts "
            "names, or have its operator add this one there."
        )

    def address_refusal(self, address: IPv4Address | IPv6Address) -> str | None:
        """Why a delivery may not connect to that address, in a few words; None if it may.

        An IPv6 address that carries an IPv4 address lies in the networks of both.
        """
        carried = embedded_ipv4(address)
        forms = (address,) if carried is None else (address, carried)
        if _lie_in(forms, self.denied_networks):
            return "in the stack's DeniedTargetCidrs"
        if not self.allowed_networks or _lie_in(forms, self.allowed_networks):
            return None
        if self.are_of_namespace:
            return "in none of the networks in `allowedTargets.networks` of the namespace's settings"
        return "in none of the stack's AllowedTargetCidrs"

    def refusal(self, host: str) -> str | None:
        """As host_refusal(). An address in the place of a name is judged by the networks too.

        Each delivery judges the addresses of a name.
        """
        refusal = self.host_refusal(host)
        if refusal is not None:
            return refusal
        try:
            address = ip_address(host)
        except ValueError:
            return None
        reason = self.address_refusal(address)
        return None if reason is None else f"Give another address: {address} is {reason}."


@lru_cache(maxsize=256)
def of_namespace(allowed: AllowedTargets) -> Destinations:
    """The lists that a namespace's settings hold."""
    networks = tuple(ip_network(each) for each in allowed.networks)
    return Destinations(allowed_hosts=allowed.hosts, allowed_networks=networks, are_of_namespace=True)


def read_rule(text: str) -> str:
    """A host in a list in the form in which hosts are compared: lower case, no dot at its end.

    `*.example.com` stands for every host below example.com, and not for example.com itself. Raises UrlError,
    whose sentence says what would be right.
    """
    name = text.removeprefix(_BELOW)
    is_below = name != text
    written = f"[{name}]" if ":" in name and not name.startswith("[") else name
    try:
        host = read_host(written)
    except UrlError:
        host = None
    if host is None or (is_below and not isinstance(host, str)):
        raise UrlError(
            f"{text!r} is no host. Give a host name such as example.com, *.example.com for every host below "
            "it, or an IP address. Write an international name in its xn-- form, and leave out port and path."
        )
    return (_BELOW if is_below else "") + str(host).rstrip(".")


def read_network(text: str) -> IPv4Network | IPv6Network:
    """A network in a list. Raises UrlError, whose sentence says what would be right."""
    try:
        return ip_network(text)
    except ValueError:
        raise UrlError(
            f"{text!r} is no network. Give one with its length, and without bits behind it, as in "
            "203.0.113.0/24 or 2001:db8::/32."
        ) from None


def _matches(rule: str, name: str) -> bool:
    return name.endswith(rule[1:]) if rule.startswith(_BELOW) else name == rule


def _lie_in(addresses: Iterable[IPv4Address | IPv6Address], networks: Networks) -> bool:
    return any(address in network for address in addresses for network in networks)
