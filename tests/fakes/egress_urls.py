"""The URLs by which an attacker may try to make a delivery reach a forbidden place."""

# ruff: noqa: RUF001 - characters that look like others are what some attempts are about

from typing import Final, NamedTuple


class UrlAttempt(NamedTuple):
    """A URL that may not be called, and a part of the sentence that refuses it."""

    url: str
    refusal: str


#: Addresses that no delivery may connect to, by the reason that the refusal gives.
_BY_REASON: Final[dict[str, tuple[str, ...]]] = {
    "unspecified": ("0.0.0.0", "0.0.0.1", "0.255.255.255", "::"),  # noqa: S104 - asked for, not bound to
    "loopback": (
        "127.0.0.1",
        "127.0.0.0",
        "127.1.2.3",
        "127.255.255.254",
        "127.255.255.255",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:127.255.255.254",
        "64:ff9b::7f00:1",
        "64:ff9b::127.0.0.1",
    ),
    "private": (
        "10.0.0.0",
        "10.0.0.2",
        "10.255.255.255",
        "172.16.0.0",
        "172.17.0.1",
        "172.31.0.2",
        "172.31.255.255",
        "192.168.0.1",
        "192.168.255.255",
        "::ffff:10.0.0.1",
        "::ffff:172.16.0.1",
        "::ffff:192.168.0.1",
        "64:ff9b::a00:1",
        "64:ff9b::ac10:1",
        "64:ff9b::192.168.0.1",
        "fec0::1",
        "feff::1",
    ),
    "private (unique local)": ("fc00::1", "fd00::1", "fd12:3456::1", "fdff:ffff::1"),
    "link-local": (
        "169.254.0.0",
        "169.254.1.1",
        "169.254.169.123",  # Amazon Time Sync
        "169.254.169.253",  # the resolver of a VPC
        "169.254.169.254",  # metadata of EC2, Azure, Google Cloud and others
        "169.254.170.2",  # credentials of an ECS task
        "169.254.170.23",  # credentials of an EKS pod
        "169.254.255.255",
        "::ffff:169.254.169.254",
        "::ffff:a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::169.254.170.2",
        "fe80::1",
        "fe80::a9fe:a9fe",
        "febf::1",
    ),
    "where AWS keeps its metadata": ("fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::123", "fd00:ec2::23"),
    "a cloud's metadata service": ("168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110"),
    "shared by a carrier": (
        "100.64.0.0",
        "100.100.100.200",  # metadata of Alibaba Cloud
        "100.127.255.255",
        "::ffff:100.64.0.1",
    ),
    "reserved for protocols": (
        "192.0.0.1",
        "192.0.0.170",
        "192.0.0.192",
        "2001:1::1",
        "2001:2::1",
        "2001:20::1",
    ),
    "for documentation": (
        "192.0.2.1",
        "198.51.100.7",
        "203.0.113.7",
        "2001:db8::1",
        "3fff::1",
        "::ffff:192.0.2.1",
    ),
    "for benchmarks": ("198.18.0.0", "198.19.255.255"),
    "a 6to4 relay": ("192.88.99.1",),
    "a 6to4 tunnel": ("2002:7f00:1::1", "2002:a9fe:a9fe::1", "2002:a00:1::", "2002:808:808::1"),
    "a Teredo tunnel": ("2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    "multicast": ("224.0.0.1", "239.255.255.255", "ff02::1", "ff05::2", "ff0e::1", "::ffff:224.0.0.1"),
    "broadcast": ("255.255.255.255", "::ffff:255.255.255.255"),
    "reserved": (
        "240.0.0.0",
        "250.1.2.3",
        "255.255.255.254",
        "::2",
        "::127.0.0.1",  # compatible with IPv4, which is deprecated
        "::169.254.169.254",
        "::ffff:0:127.0.0.1",  # translated (SIIT)
        "64:ff9b:1::1",  # NAT64 of a network's own
        "64:ff9b:1::a9fe:a9fe",
        "64:ff9b:1:ffff::7f00:1",
        "100::1",  # goes nowhere
        "100:0:0:1::1",
        "200::1",
        "1fff::1",
        "4000::1",
        "5f00::1",  # segment routing
        "8000::1",
        "fbff::1",
        "fe00::1",
    ),
}

#: Addresses that no delivery may connect to, each with the reason that the refusal gives.
ADDRESSES: Final = tuple((address, reason) for reason, group in _BY_REASON.items() for address in group)

_V4: Final = "as four decimal numbers"
_NAME: Final = "Give a host name of letters, digits and hyphens"
_ASCII: Final = "Use ASCII without spaces"
_AUTHORITY: Final = "Give a host and, if need be, a port"
_V6: Final = "give an IPv6 address"

#: Hosts that some program reads as an address that is not permitted, or as another host than this one does.
_HOSTS: Final[dict[str, tuple[str, ...]]] = {
    _V4: (
        "2130706433",
        "2852039166",
        "0",
        "1",
        "4294967295",
        "4294967296",
        "127.1",
        "127.0.1",
        "10.1",
        "169.254.43518",
        "127.0.0.1.",
        "169.254.169.254.",
        "10.0.0.1.",
        "127.0.0.1..",
        "0177.0.0.1",
        "0177.0.0.01",
        "00000177.0.0.1",
        "0251.0376.0251.0376",
        "127.0.0.01",
        "017700000001",
        "0x7f.0.0.1",
        "0x7f.1",
        "0x7f000001",
        "0X7F000001",
        "0x7f.0x0.0x0.0x1",
        "0xa9fea9fe",
        "0xa9.0xfe.0xa9.0xfe",
        "0x",
        "0x7f.0x",
        "127.0.0.0x1",
        "0xa9.254.0251.254",
        "256.1.1.1",
        "127.0.0.256",
        "1.2.3.4.5",
        "127.0.0.1.1",
        "1.1.1.1.0x7f000001",
        "a.2130706433",
        "example.com.127",
        "example.com.0x7f",
        "127..1",
        "%31%32%37.0.0.1",
        "$127.0.0.1",
    ),
    "Give a public address": (
        "[0:0:0:0:0:0:0:1]",
        "[0000::0001]",
        "[::FFFF:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "[FE80::1]",
        "[FD00:EC2::254]",
    ),
    _V6: (
        "[]",
        "[127.0.0.1]",
        "[2130706433]",
        "[::ffff:127.1]",
        "[::ffff:0177.0.0.1]",
        "[::ffff:0x7f.0.0.1]",
        "[::ffff:127.0.0.1.]",
        "[:::1]",
        "[::1::]",
        "[00001::1]",
        "[localhost]",
        "[v1.fe80::a]",
    ),
    "Leave out the zone": (
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[fe80::1%1]",
        "[::1%25lo]",
        "[2606:4700::1111%251]",
        "[::ffff:127.0.0.1%25lo]",
    ),
    _AUTHORITY: (
        "[::1",
        "::1]",
        "::1",
        "fe80::1",
        "[::1]x",
        "x[::1]",
        "[::1].example.com",
        "[[::1]]",
        "[[::1",
    ),
    _ASCII: (
        "127。0。0。1",  # ideographic full stops
        "169．254．169．254",  # full-width full stops
        "127｡0｡0｡1",  # half-width ideographic full stops
        "１２７.０.０.１",  # full-width digits
        "𝟏𝟐𝟕.𝟎.𝟎.𝟏",  # mathematical digits
        "①②⑦.⓪.⓪.①",
        "١٢٧.٠.٠.١",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
        "ｌｏｃａｌｈｏｓｔ",  # full-width letters
        "localhoſt",  # a long s folds to s
        "exa\u200bmple.com",
        "exam\u00adple.com",
        "example.com\u2044x",
        "example.com\uff0f@127.0.0.1",
        "münchen.example",
        "exa mple.com",
        "127.0.0.1\t",
        "127.0.0.1\n",
        "127.0.0.1\r\nx-forged: 1",
        "127.0.0.1\x00.example.com",
        "example.com\x7f",
        "example.com\\",
        "example.com\\@127.0.0.1",
    ),
    _NAME: (
        "127.0.0.1%2f",
        "127.0.0.1%00",
        "127.0.0.1%2eexample",
        "169.254.169.254%09",
        "localhost%00.example.com",
        "exam%70le.com",
        "localhost;x",
        "127.0.0.1,example.com",
        "(127.0.0.1)",
        "127.0.0.1&x",
        "127.0.0.1=x",
        "'127.0.0.1'",
        "-1",
        "-localhost",
        "localhost-",
        "localhost..",
        ".localhost",
        "a..b",
        ".",
        "..",
        "",
        "*",
        "*.example.com",
        "a" * 64 + ".example",
        "a." * 127 + "example",
    ),
    "Put no user or password": (
        "user@example.com",
        "user:password@example.com",
        "example.com@127.0.0.1",
        "example.com:443@169.254.169.254",
        "@127.0.0.1",
        ":@127.0.0.1",
        "a@b@127.0.0.1",
        "127.0.0.1:80%40@example.com",
        "localhost:8080%2f@x",
        "[::1]@example.com",
    ),
    "port": (
        "example.com:",
        "example.com:0",
        "example.com:00000",
        "example.com:65536",
        "example.com:99999",
        "example.com:+80",
        "example.com:-1",
        "example.com:0x50",
        "example.com:80:80",
        "example.com:443.",
        "example.com:000443",
    ),
}

#: Whole URLs that may not be called.
_URLS: Final = (
    UrlAttempt("http://example.com/hook", "Use https"),
    UrlAttempt("HTTP://example.com/hook", "Use https"),
    UrlAttempt("http://169.254.169.254/latest/meta-data/iam/security-credentials/", "Use https"),
    UrlAttempt(
        "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next", "Use https"
    ),  # Lambda's runtime API
    UrlAttempt("https://127.0.0.1:9001/2018-06-01/runtime/invocation/next", "is loopback"),
    UrlAttempt("https://[::1]:9001/", "is loopback"),
    UrlAttempt("ftp://example.com/hook", "Use https"),
    UrlAttempt("gopher://127.0.0.1:6379/_", "Use https"),
    UrlAttempt("ws://example.com/", "Use https"),
    UrlAttempt("unix:///var/run/docker.sock", "Use https"),
    UrlAttempt("https+unix://%2fvar%2frun%2fdocker.sock/", "Use https"),
    UrlAttempt("file:///etc/passwd", "Use https"),
    UrlAttempt("file://example.com/etc/passwd", "Use https"),
    UrlAttempt("jar:https://example.com/x!/", "Give a whole URL"),
    UrlAttempt("data:text/plain,x", "Give a whole URL"),
    UrlAttempt("javascript:alert(1)", "Give a whole URL"),
    UrlAttempt("", "Give a URL"),
    UrlAttempt("example.com/hook", "Give a whole URL"),
    UrlAttempt("//example.com/hook", "Give a whole URL"),
    UrlAttempt("https:/example.com", "Give a whole URL"),
    UrlAttempt("https:example.com", "Give a whole URL"),
    UrlAttempt("https:\\\\example.com", _ASCII),
    UrlAttempt(" https://example.com/", _ASCII),
    UrlAttempt("https://example.com/ ", _ASCII),
    UrlAttempt("\thttps://example.com/", _ASCII),
    UrlAttempt("https://", _NAME),
    UrlAttempt("https:///hook", _NAME),
    UrlAttempt("https://?q=1", _NAME),
    UrlAttempt("https://example.com/#fragment", "Leave out the fragment"),
    UrlAttempt("https://127.0.0.1#@example.com/", "Leave out the fragment"),
    UrlAttempt("https://example.com/a b", _ASCII),
    UrlAttempt("https://example.com/ü", _ASCII),
    UrlAttempt("https://example.com/\r\nhost: evil", _ASCII),
    UrlAttempt("https://example.com/ HTTP/1.1\r\nx-forged: 1\r\n\r\n", _ASCII),
    UrlAttempt("https://example.com/\nGET /", _ASCII),
    UrlAttempt("https://example.com/\x00", _ASCII),
    UrlAttempt("https://example.com/\x85", _ASCII),
    UrlAttempt("https://example.com/\u2028", _ASCII),
    UrlAttempt("https://example.com/?q=\r\n", _ASCII),
    UrlAttempt("https://{{index}}.example.com/", _NAME),
    UrlAttempt("https://example.com:{{index}}/", "port"),
    UrlAttempt("{{index}}://example.com/", "Give a whole URL"),
    UrlAttempt("https://example.com/{{secret}}", "There is no placeholder"),
)


def _in_url(address: str) -> str:
    return f"https://[{address}]/" if ":" in address else f"https://{address}/"


#: Every URL that may not be called.
URLS: Final = (
    *(UrlAttempt(_in_url(address), f"is {reason}") for address, reason in ADDRESSES),
    *(UrlAttempt(f"https://{host}/", refusal) for refusal, hosts in _HOSTS.items() for host in hosts),
    *_URLS,
)
