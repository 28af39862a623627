"""The client repeats a request by the API's rules, and says in words why a call failed."""

import json
import socket
import ssl
from decimal import Decimal
from typing import Any, Final

import pytest
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.doubles import HandClock
from tests.fakes.http_server import Fault, Server
from tests.fakes.world import NOON
from tests.unit.client.conftest import JOB, TARGET

from sweephand.base.errors import StoreError, UnavailableError
from sweephand.jobs.preconditions import check_time_limit
from sweephand.model.attempt import Answer as ConsumerAnswer
from sweephand.web.http.problems import problem_of as problem_document
from sweephand_client.api.client import Client
from sweephand_client.http import errors, exact_json
from sweephand_client.http.authorization import Bearer, IamSignature
from sweephand_client.http.operation import Repetition
from sweephand_client.http.transport import Transport, _is_certificate, _reason, checked_url

QUOTA: Final = Fault(429, {"retry-after": "3"}, b'{"detail": "too many"}')
PROBLEM: Final = {"retry-after": "5", "content-type": "application/problem+json"}


def too_slow() -> UnavailableError:
    """The error of a request that reached its time limit."""
    clock = HandClock()
    requested_at = clock.now()
    clock.time += 60_000
    with pytest.raises(UnavailableError) as caught:
        check_time_limit(clock, requested_at)
    return caught.value


#: The API's 503 after which it is unknown what a store did, and the one that says that nothing was written.
UNAVAILABLE: Final = Fault(503, PROBLEM, json.dumps(problem_document(StoreError("lost"))).encode())
NOTHING_WRITTEN: Final = Fault(503, PROBLEM, json.dumps(problem_document(too_slow())).encode())
LOST: Final = Fault(reaches_api=True)

_JSON: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_what_is_asked_to_come_later_is_sent_again_after_that_time(
    server: Server, client: Client, waits: list[float]
) -> None:
    server.faults += [QUOTA, Fault(429), NOTHING_WRITTEN]

    client.jobs.put("ns", "job", JOB)

    assert waits == [3, 0.4, 5]
    assert server.calls() == ["PUT /v1/namespaces/ns/jobs/job"] * 4


def test_a_request_that_would_have_to_wait_too_long_is_given_up(
    server: Server, client: Client, waits: list[float]
) -> None:
    server.faults.append(Fault(429, {"retry-after": "60"}))

    with pytest.raises(errors.TooManyError):
        client.jobs.put("ns", "job", JOB)
    assert waits == []


def test_an_answer_that_was_lost_is_asked_for_again(server: Server, client: Client) -> None:
    server.faults.append(LOST)

    assert client.policies.put("ns", "mail", {"maxConcurrent": 5})["name"] == "mail"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "fault", [LOST, Fault(503, reaches_api=True), Fault(504, reaches_api=True), UNAVAILABLE]
)
def test_a_put_that_may_have_been_carried_out_is_not_sent_again(
    server: Server, client: Client, fault: Fault
) -> None:
    server.faults.append(fault)

    with pytest.raises(errors.SweephandError) as caught:
        client.jobs.put("ns", "job", {"dueTime": "2s", "target": TARGET})

    assert isinstance(caught.value, errors.UnreachableError | errors.StackFailedError)
    assert caught.value.may_have_written
    assert len(server.requests) == 1


def test_a_put_of_a_one_off_that_fired_meanwhile_does_not_begin_it_anew(
    server: Server, client: Client
) -> None:
    def fires_first(_: float) -> None:
        server.api.world.clock.time += 60_000

    transport = Transport(server.url, Bearer("sh_admin"), sleep=fires_first, draw=lambda: 1.0)
    server.faults.append(LOST)
    with pytest.raises(errors.PreconditionError) as caught:
        Client(server.url, transport=transport).jobs.put(
            "ns", "job", {"dueTime": "2s", "target": TARGET}, if_absent=True
        )

    assert caught.value.may_have_written
    assert client.jobs.get("ns", "job")["state"] == "completed"
    assert len(list(client.jobs.changes("ns", "job"))) == 1


def test_a_write_that_the_api_surely_did_not_do_is_sent_again(server: Server, client: Client) -> None:
    client.jobs.put("ns", "job", JOB)
    server.faults.append(NOTHING_WRITTEN)

    assert client.jobs.trigger("ns", "job")["id"].startswith("manual-")


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_write_after_which_the_stack_failed_may_have_been_done_and_a_read_not(
    server: Server, client: Client, status: int
) -> None:
    server.faults += [Fault(status)] * 10
    with pytest.raises(errors.StackFailedError) as written:
        client.jobs.trigger("ns", "job")
    with pytest.raises(errors.StackFailedError) as read:
        client.jobs.get("ns", "job")

    assert written.value.may_have_written
    assert not read.value.may_have_written


def test_an_earlier_attempt_is_not_forgotten_when_the_last_one_could_do_nothing(
    server: Server, client: Client
) -> None:
    server.faults += [LOST, *[Fault(429)] * 10]

    with pytest.raises(errors.TooManyError) as caught:
        client.jobs.put("ns", "job", JOB, if_absent=True)
    assert caught.value.may_have_written


@pytest.mark.parametrize("fault", [LOST, UNAVAILABLE, Fault(504)])
def test_a_trigger_is_never_sent_twice_if_the_first_may_have_been_made(
    server: Server, client: Client, fault: Fault
) -> None:
    client.jobs.put("ns", "job", JOB)
    server.faults.append(fault)

    with pytest.raises(errors.SweephandError):
        client.jobs.trigger("ns", "job")
    assert server.calls().count("POST /v1/namespaces/ns/jobs/job/trigger") == 1


def test_a_trigger_that_the_gateway_throttled_is_sent_again(server: Server, client: Client) -> None:
    client.jobs.put("ns", "job", JOB)
    server.faults.append(Fault(429, {}, b'{"message":"Too Many Requests"}'))

    assert client.jobs.trigger("ns", "job")["id"].startswith("manual-")


def test_a_delete_whose_answer_was_lost_is_done(server: Server, client: Client) -> None:
    client.jobs.put("ns", "job", JOB)
    server.faults.append(LOST)

    client.jobs.delete("ns", "job")

    assert len(server.requests) == 3
    with pytest.raises(errors.NotFoundError):
        client.jobs.delete("ns", "job")


def test_a_404_for_many_jobs_does_not_say_that_they_were_deleted(server: Server, client: Client) -> None:
    server.faults += [LOST, Fault(404, PROBLEM, b'{"detail": "There is no such namespace."}')]

    with pytest.raises(errors.NotFoundError):
        client.jobs.delete_many("ns", prefix="job")


def test_a_conditional_write_whose_answer_was_lost_says_that_it_may_have_written(
    server: Server, client: Client
) -> None:
    server.faults.append(LOST)

    with pytest.raises(errors.PreconditionError, match="An earlier attempt of this request may have"):
        client.jobs.put("ns", "job", JOB, if_absent=True)


def test_a_cancel_whose_answer_was_lost_says_that_it_may_have_been_carried_out(
    server: Server, client: Client
) -> None:
    client.jobs.put("ns", "job", {**JOB, "schedule": "@every 10s"})
    world = server.api.world
    world.consumers.answering = lambda _: ConsumerAnswer(succeeded=False, code=503)
    world.run_until(NOON + 11_000)
    server.faults.append(LOST)

    with pytest.raises(errors.ConflictError, match=r"cancelled already.*earlier attempt") as caught:
        client.runs.cancel("ns", "job", f"{NOON + 10_000}-0")

    assert caught.value.may_have_written


def test_a_text_that_is_not_unicode_is_refused_before_any_call(server: Server, client: Client) -> None:
    with pytest.raises(errors.InputError, match="no character of Unicode"):
        client.jobs.put("ns", "job", {**JOB, "data": "\udcff"})
    with pytest.raises(errors.InputError, match="no character of Unicode"):
        list(client.jobs.list("ns", prefix="\udcff"))
    assert server.requests == []


def test_an_address_where_nothing_answers_is_named_after_few_attempts(waits: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    transport = Transport(url, None, sleep=waits.append, draw=lambda: 0.0)

    with pytest.raises(errors.UnreachableError, match=f"{url} cannot be reached: .*refused") as caught:
        Client(url, transport=transport).jobs.trigger("ns", "job")
    assert waits == [0.1, 0.2]
    assert not caught.value.may_have_written


@pytest.mark.parametrize(
    "fault",
    [
        Fault(200, {"content-type": "text/html"}, b"<h1>"),
        Fault(200, {"content-type": "application/json"}, b"[]"),
        Fault(200),
        Fault(302, {"location": "/"}, b"x"),
    ],
)
def test_another_server_at_the_address_is_no_stack(server: Server, client: Client, fault: Fault) -> None:
    server.faults.append(fault)
    with pytest.raises(errors.UnreachableError, match="no API of Sweephand"):
        client.me()


@pytest.mark.parametrize(
    "url",
    ["http://example.com", "ftp://example.com", "example.com", "https://a:b@example.com", "https://x/?q"],
)
def test_a_key_is_sent_only_over_https_or_to_this_machine(url: str) -> None:
    with pytest.raises(errors.InputError):
        checked_url(url)


def test_the_address_of_this_machine_may_be_http() -> None:
    assert checked_url("http://127.0.0.1:4700/x/") == "http://127.0.0.1:4700/x"
    assert checked_url("http://[::1]:4700") == "http://[::1]:4700"
    assert checked_url("http://localhost:4700") == "http://localhost:4700"


def test_refused_fields_are_named_by_their_pointers(client: Client) -> None:
    with pytest.raises(errors.InvalidError) as caught:
        client.jobs.put("ns", "job", {"schedule": "never", "target": TARGET, "retries": 3})  # type: ignore[typeddict-unknown-key]

    assert {each.pointer for each in caught.value.problem.errors} == {"/schedule", "/retries"}
    assert "\n  /retries: " in str(caught.value)


@pytest.mark.parametrize(
    ("token", "kind"), [("sh_reader", errors.ForbiddenError), ("sh_other", errors.UnauthenticatedError)]
)
def test_each_status_has_its_error(server: Server, token: str, kind: type[Exception]) -> None:
    with Client(server.url, token) as client, pytest.raises(kind):
        client.jobs.put("ns", "job", JOB)


def test_a_key_that_the_gateway_does_not_know_is_named() -> None:
    problem = errors.problem_of(403, {"message": "Forbidden"})
    said = "The gateway answers 403: Forbidden. The key may be mistyped, expired or revoked."
    assert problem.detail == said
    assert errors.problem_of(403, {"message": "Not yours"}).detail == "The gateway answers 403: Not yours."


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Pool(host='a'): Failed to resolve 'a' ([Errno -2] Unknown)",
            "Failed to resolve 'a' ([Errno -2] Unknown)",
        ),
        ("Max retries (Caused by X('<obj>: Connection refused'))", "Connection refused'"),
        ("", "OSError"),
    ],
)
def test_a_reason_has_its_parentheses_in_pairs(said: str, told: str) -> None:
    assert _reason(OSError(said)) == told


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "\u00e4", "x" * 129])
def test_a_name_that_would_lead_to_another_path_is_refused_before_any_call(
    server: Server, client: Client, name: str
) -> None:
    with pytest.raises(errors.InputError, match="Give 1 to 128 of"):
        client.jobs.get("ns", name)
    assert server.requests == []


def test_every_character_of_a_name_arrives(client: Client) -> None:
    name = "A.z_9~:@+=-"
    client.jobs.put("ns", name, JOB)
    assert client.jobs.get("ns", name)["name"] == name


def test_numbers_are_exact(client: Client) -> None:
    data = {"price": Decimal("1.10"), "long": 12345678901234567890123, "tiny": Decimal("1E-400")}
    client.jobs.put("ns", "job", {**JOB, "data": data})
    assert client.jobs.get("ns", "job")["data"] == data
    assert exact_json.write(client.jobs.get("ns", "job")["data"]["price"]) == "1.10"


@given(_JSON)
def test_json_comes_back_as_it_was(value: Any) -> None:
    assert exact_json.read(exact_json.write(value)) == value


def test_what_is_no_json_is_neither_read_nor_written() -> None:
    with pytest.raises(ValueError, match="NaN"):
        exact_json.read("[NaN]")
    with pytest.raises(ValueError, match="nested too deeply"):
        exact_json.read("[" * 100_000)
    with pytest.raises(ValueError, match="JSON compliant"):
        exact_json.write(float("inf"))


def test_a_token_is_not_in_the_representation() -> None:
    assert "secret" not in repr(Bearer("secret"))


def test_a_request_is_signed_as_it_is_sent(server: Server) -> None:
    credentials = Credentials("AKID", "secret", "token")
    transport = Transport(server.url, IamSignature("eu-west-1", credentials), sleep=lambda _: None)
    with Client(server.url, transport=transport) as client, pytest.raises(errors.UnauthenticatedError):
        client.jobs.put("ns", "a:b", {"data": "\u00fc"})

    method, path, sent = server.requests[0]
    assert path == "/v1/namespaces/ns/jobs/a%3Ab"
    assert sent["x-amz-security-token"] == "token"
    signed = sent["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    request = AWSRequest(
        method=method,
        url=server.url + path,
        data=json.dumps({"data": "\u00fc"}, ensure_ascii=False, separators=(",", ":")).encode(),
        headers={name: sent[name] for name in signed},
    )
    request.context["timestamp"] = sent["x-amz-date"]
    auth: Any = SigV4Auth(credentials, "execute-api", "eu-west-1")
    expected = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    assert sent["authorization"].endswith(f"Signature={expected}")


def test_every_character_of_a_query_arrives(server: Server, client: Client) -> None:
    labels = {"team": "r&d + ops=1 \u00fc"}
    client.jobs.put("ns", "job", {**JOB, "labels": labels})
    assert [each["name"] for each in client.jobs.list("ns", labels=labels)] == ["job"]
    assert "label=team%3Ar%26d%20%2B%20ops%3D1%20%C3%BC" in server.requests[-1][1]


def test_the_waits_of_a_request_are_bounded() -> None:
    rule = Repetition()

    def delay(attempt: int, waited_s: float = 0) -> float | None:
        return rule.delay_s(
            "refused",
            is_repeatable=True,
            attempt=attempt,
            waited_s=waited_s,
            retry_after_s=None,
            fraction=0.5,
        )

    assert [delay(each) for each in range(1, 6)] == pytest.approx([0.15, 0.3, 0.6, 1.2, 2.4])
    assert delay(6) is None
    assert delay(5, waited_s=29) is None


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (ssl.SSLCertVerificationError("self-signed"), True),
        (ssl.SSLError("bad record mac"), False),
        (ssl.SSLEOFError("EOF"), False),
        ("no TLS at all", True),
    ],
)
def test_only_a_certificate_says_that_no_request_has_left(cause: Any, expected: bool) -> None:  # noqa: FBT001 - of the table
    assert _is_certificate(urllib3.exceptions.SSLError(cause)) == expected
