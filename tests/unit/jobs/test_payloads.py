"""When `data` over 2 KB is kept, and when it is let go of."""

from tests.fakes.faults import calls_of, failing
from tests.fakes.world import World, key_of

from sweephand.jobs.definition import Payload

LARGE = '"' + "x" * 3_000 + '"'


def kept(world: World) -> Payload:
    """The payload of the stored job."""
    job = world.jobs.get(key_of())
    assert job is not None
    assert job.definition.payload is not None
    return job.definition.payload


def test_data_over_two_kilobytes_is_kept_before_the_job_and_let_go_of_after_it() -> None:
    world = World()
    calls = calls_of(world, lambda: world.put(dueTime="1h", data=LARGE))
    assert calls.index("after payloads.put") < calls.index("before jobs.put")
    first = kept(world)
    world.put(dueTime="2h", data=LARGE)
    assert kept(world) == first
    assert not world.payloads.discarded
    job = world.put(dueTime="2h", data="1").job
    assert world.payloads.discarded == {(job.uid, first.ref)}


def test_a_deleted_job_lets_go_of_its_data() -> None:
    world = World()
    job = world.put(dueTime="1h", data=LARGE).job
    world.delete()
    assert job.definition.payload is not None
    assert world.payloads.discarded == {(job.uid, job.definition.payload.ref)}


def test_what_is_written_stands_though_its_old_data_cannot_be_let_go_of() -> None:
    world = World()
    world.put(dueTime="1h", data=LARGE)
    failing(world, "payloads.discard")
    assert world.put(dueTime="1h", data="1").outcome == "replaced"
    world.put(dueTime="1h", data=LARGE)
    world.delete()
    assert world.jobs.get(key_of()) is None
