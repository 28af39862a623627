"""Checks of what the gateway does with a request before the API receives it."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from infra.local.client import Client
from infra.smoke.checks import Suite, expect
from infra.smoke.stage import Stage

GATEWAY = Suite()

_MB = 1024 * 1024
_BURST = 400
_UNKNOWN = "/v1/namespaces/smoke-gateway/jobs"


@GATEWAY.add("A slash that is encoded in a name is decoded by the gateway, so that no job has such a name.")
def encoded_slash(stage: Stage) -> str:
    """As docs/api.md says: names have no slash."""
    status = stage.client.call("PUT", f"{_UNKNOWN}/a%2Fb", b"{}").status
    expect(status == 404, f"answered {status}")  # noqa: PLR2004 - the status that is promised
    return "404"


@GATEWAY.add("Other encoded characters of a name mean the characters themselves.")
def encoded_name(stage: Stage) -> str:
    """The raw path is decoded once: by the gateway or by the API, and not by both."""
    body = b'{"dueTime": "24h", "target": {"type": "http", "url": "https://example.com/"}}'
    written = stage.client.call("PUT", f"{_UNKNOWN}/a%40b%2Bc%3D", body)
    read = stage.client.call("GET", f"{_UNKNOWN}/a@b+c=")
    deleted = stage.client.call("DELETE", f"{_UNKNOWN}/a%40b+c%3D")
    statuses = (written.status, read.status, deleted.status)
    expect(statuses == (201, 200, 204), f"PUT, GET, DELETE were answered {statuses}")
    return "a%40b%2Bc%3D and a@b+c= are one job"


@GATEWAY.add("Without a key the answer is 401 and with a made-up one 403, both JSON with a message.")
def missing_and_wrong_keys(stage: Stage) -> str:
    """These are the gateway's own answers."""
    url = stage.client.api_url
    none, wrong = (Client(url, key).call("GET", _UNKNOWN) for key in (None, "sh_nobody_nothing"))
    seen = f"{none.status} {none.body}, {wrong.status} {wrong.body}"
    expect(none.status == 401 and wrong.status in (401, 403), seen)  # noqa: PLR2004 - likewise
    expect(all("message" in str(each.body).lower() for each in (none, wrong)), seen)
    return seen


@GATEWAY.add("A body that is no text or no JSON is refused with 400 or 415, and never with 5xx.")
def binary_bodies(stage: Stage) -> str:
    """The gateway passes bytes on in base64."""
    bytes_ = bytes(range(256))
    statuses = {
        kind: stage.client.call("PUT", f"{_UNKNOWN}/binary", bytes_, headers={"content-type": kind}).status
        for kind in ("application/json", "application/octet-stream", "text/plain", "image/png")
    }
    expect(set(statuses.values()) <= {400, 415}, f"answered {statuses}")
    return ", ".join(f"{kind} {status}" for kind, status in statuses.items())


@GATEWAY.add("A body over 1 MB is refused with 413.")
def large_bodies(stage: Stage) -> str:
    """The API refuses such a body."""
    status = stage.client.call("PUT", f"{_UNKNOWN}/large", _padding(2 * _MB)).status
    expect(status == 413, f"2 MB were answered {status}")  # noqa: PLR2004 - likewise
    return "2 MB: 413"


@GATEWAY.add(
    "A body that is more than Lambda or the gateway takes is refused with 4xx.",
    not_local="the limits of 6 MB and 10 MB are AWS's own",
)
def huge_bodies(stage: Stage) -> str:
    """Lambda takes 6 MB and the gateway 10 MB."""
    path = f"{_UNKNOWN}/huge"
    statuses = {each: stage.client.call("PUT", path, _padding(each * _MB)).status for each in (7, 11)}
    expect(all(400 <= status < 500 for status in statuses.values()), f"answered {statuses}")  # noqa: PLR2004 - 4xx
    return ", ".join(f"{megabytes} MB: {status}" for megabytes, status in statuses.items())


@GATEWAY.add("No answer allows another origin: there is no CORS.")
def no_cors(stage: Stage) -> str:
    """A page of another origin must not be able to call the API with a key that it knows."""
    origin = {"origin": "https://example.com", "access-control-request-method": "PUT"}
    answers = [stage.client.call(method, _UNKNOWN, headers=origin) for method in ("OPTIONS", "GET")]
    allowing = [answer.headers for answer in answers if "access-control-allow-origin" in answer.headers]
    expect(not allowing, f"an answer has {allowing}")
    return f"OPTIONS was answered {answers[0].status}"


@GATEWAY.add("Health, documentation and public keys need no key.")
def open_paths(stage: Stage) -> str:
    """These routes have no authorizer."""
    paths = ("/v1/health", "/v1/openapi.json", "/docs", "/console", "/v1/namespaces/smoke/signing-keys")
    with Client(stage.client.api_url, None) as nobody:
        statuses = {path: nobody.call("GET", path).status for path in paths}
    expect(set(statuses.values()) == {200}, f"answered {statuses}")
    return "200 each"


@GATEWAY.add(
    "More requests than ApiRequestsPerSecond are answered 429.", not_local="a local AWS does not throttle"
)
def throttling(stage: Stage) -> str:
    """Invalid keys, each a new one, so that every request that the gateway admits asks the authorizer."""

    def ask(number: int) -> int:
        with Client(stage.client.api_url, f"sh_smoke{number}_none") as unknown:
            return unknown.call("GET", _UNKNOWN).status

    with ThreadPoolExecutor(50) as threads:
        seen = Counter(threads.map(ask, range(_BURST)))
    expect(seen[429], f"none of {_BURST} requests at once: {dict(seen)}")
    return f"{_BURST} requests with unknown keys at once: {dict(seen)}"


def _padding(size: int) -> bytes:
    return b'{"description": "' + b"x" * size + b'"}'
