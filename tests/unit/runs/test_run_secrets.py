"""What a consumer says of a run in its callbacks is kept without the secrets that it repeats."""

import json
from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.acceptance import RUN, Worker, running
from tests.fakes.deliveries import run_of
from tests.fakes.notified import TOLD, told
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError
from sweephand.base.limits import RESULT_BYTES_MAX
from sweephand.model.attempt import Answer
from sweephand.model.secret import SecretKey
from sweephand.runs.callbacks import RunSecrets

PASSWORD = "correct horse/battery"
BASIC = "Basic " + b64encode(f"somebody:{PASSWORD}".encode()).decode()
SESSION = "session=0123456789abcdef; theme=dark"
TARGET: dict[str, Any] = {
    "type": "http",
    "url": "https://consumer.example/hook",
    "headers": {"authorization": {"secretRef": "login"}, "cookie": SESSION, "accept": "application/json"},
}


def at_work(**written: Any) -> tuple[World, Worker]:
    """An asynchronous job whose target has secrets, and its consumer, which has accepted the trigger."""
    world = World()
    world.api().secrets.put(SecretKey("ns", "login"), BASIC, who="admin")
    return world, running(world, target=TARGET, **written)


def secrets_of(world: World, worker: Worker) -> list[str]:
    [signing] = world.callbacks()._secrets._signing.active("ns")
    return [PASSWORD, BASIC, "0123456789abcdef", worker.tokens[-1], signing]


def spoken(world: World, worker: Worker) -> str:
    return " and ".join([*secrets_of(world, worker), json.dumps(PASSWORD).replace("/", "\\/")])


def assert_hidden(text: str | None, world: World, worker: Worker) -> None:
    assert text is not None
    assert "[secret]" in text
    assert not [each for each in secrets_of(world, worker) if each in text]


def complete(world: World, worker: Worker, result: object) -> None:
    world.callbacks().complete(key_of(), RUN, worker.tokens[-1], result=json.dumps(result))


def test_a_result_is_kept_and_told_without_the_secrets_that_it_repeats() -> None:
    world, worker = at_work(onComplete=TOLD)
    result = {"sent": [spoken(world, worker)], worker.tokens[-1]: 1, "accept": "application/json"}
    complete(world, worker, result)
    kept = run_of(world).result
    assert_hidden(kept, world, worker)
    assert json.loads(kept or "")["accept"] == "application/json"
    world.consumers.answering = lambda _: Answer(succeeded=True, code=204)
    world.run_until(NOON + 20_000, ticking=False)
    assert_hidden(json.dumps(told(world)), world, worker)
    complete(world, worker, result)  # a repetition is safe
    with pytest.raises(ConflictError):
        complete(world, worker, {**result, "more": 1})


@pytest.mark.parametrize("result", [["1234"] * 200, [1234] * 400, "line\next"])
def test_a_result_is_told_however_it_reads_without_secrets(result: object) -> None:
    world, worker = at_work(onComplete=TOLD)
    for name, value in (("login", "1234"), ("other", "next")):
        world.api().secrets.put(SecretKey("ns", name), value, who="admin")
    headers = {"authorization": {"secretRef": "login"}, "x-other": {"secretRef": "other"}}
    world.patch("job", target={**TARGET, "headers": headers})
    text = json.dumps(result, separators=(",", ":"))
    world.callbacks().complete(key_of(), RUN, worker.tokens[-1], result=text)
    kept = run_of(world).result
    assert kept is not None
    assert len(kept.encode()) <= RESULT_BYTES_MAX
    assert "1234" not in kept
    world.consumers.answering = lambda _: Answer(succeeded=True, code=204)
    world.run_until(NOON + 20_000, ticking=False)
    assert told(world)[-1]["result"] == json.loads(kept)


def test_a_reason_is_kept_sent_and_buried_without_the_secrets_that_it_repeats() -> None:
    world, worker = at_work(onError="pause")
    for _ in range(2):  # a repetition is safe
        worker.fail(reason=spoken(world, worker), is_final=True)
    assert_hidden(repr([message for _, message in world.queue.waiting]), world, worker)
    world.run_until(NOON + 20_000, ticking=False)
    assert_hidden(run_of(world).reason, world, worker)
    ((letter, _),) = world.queue.buried
    assert_hidden(letter.reason, world, worker)
    job = world.stored()
    assert_hidden(job.pause_reason, world, worker)


def test_secrets_of_the_default_target_are_hidden(world: World) -> None:
    running(world)
    job = world.stored()
    written = {**job.definition.written, "target": {"type": "default", "path": "/x"}}
    job = replace(job, definition=replace(job.definition, written=written))
    signing = world.callbacks()._secrets._signing
    secrets = RunSecrets(signing=signing, read=lambda *_: {}, default_target=lambda *_: TARGET)
    assert secrets.hidden_in("no 0123456789abcdef", run_of(world), job) == "no [secret]"


def test_the_run_token_is_hidden_though_the_job_is_deleted() -> None:
    world, worker = at_work()
    world.delete()
    worker.fail(reason=f"token {worker.tokens[-1]}")
    failure = run_of(world).last_failure
    assert failure is not None
    assert failure.reason == "token [secret]"
