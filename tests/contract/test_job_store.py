"""What every JobStore promises (ports/)."""

from dataclasses import replace
from itertools import product

import pytest
from tests.contract.builders import (
    EVERY_CHARACTER,
    NOON,
    job,
    large_payload,
    next_revision,
    paused,
    series,
    winner,
)
from tests.fakes.engines import Stores
from tests.fakes.memory import brief_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS
from sweephand.model.change import Change, FieldChange, Former
from sweephand.model.definition import CATCH_UP_DEFAULT, Definition, Payload
from sweephand.model.job import Job, JobKey, PauseEnd, Revision, RevisionName
from sweephand.model.trace import Origin
from sweephand.ports.jobs import JobStore

MANY_NAMES = [
    *(f"a{number}" for number in range(120)),
    *(f"b-{number}" for number in range(150)),
    *(f"~:{character}" for character in EVERY_CHARACTER[:12]),
]


@pytest.fixture
def jobs(stores: Stores) -> JobStore:
    return stores.jobs


@pytest.fixture
def many_jobs(jobs: JobStore) -> JobStore:
    for name in MANY_NAMES:
        jobs.put(job(name), replacing=None)
    jobs.put(job(key=JobKey("other", "a1")), replacing=None)
    jobs.put(job(key=JobKey("default2", "a1")), replacing=None)
    return jobs


def everything_set() -> Job:
    """A job with every field given, near the limits of what a user may write."""
    headers = {f"x-header-{number}": "ü" * 100 for number in range(30)}
    written = {
        "schedule": "0 30 2 * * MON-FRI",
        "timezone": "Europe/Paris",
        "repeats": 4,
        "target": {"type": "http", "url": "https://example.com/" + "u" * 2_000, "headers": headers},
        "retry": {"maxAttempts": 3, "multiplier": 1.5},
        "deadLetterQueue": None,
        "labels": {f"label-{number}": "v" * 128 for number in range(20)},
        "description": "Ночная копия \U0001f600 \x00 \ud800",
    }
    earlier = tuple(Revision(f"{number}-aaaa", number, number + 1) for number in range(1, 21))
    return job(
        definition=Definition(written, Payload.of('{"n": 1.10, "big": 123456789012345678901234567890}')),
        current=Revision("21-version000000001", since=NOON),
        earlier=earlier,
        paused_at=NOON + 5,
        change=Change(
            NOON + 5,
            "key-1",
            "paused",
            "version000000001",
            "ü \x00",
            (FieldChange("labels", (None, {"a": "b"})), FieldChange("data")),
            Former("20-aaaa", series(), CATCH_UP_DEFAULT, 60_000),
        ),
        pause_reason="",
        expires_at=NOON + 1_001,
        counted_in=7,
        has_batches=True,
        origin=Origin(f"00-{'a' * 32}-{'b' * 16}-01", is_parent=True),
        pause_end=PauseEnd(NOON + 1, "all"),
    )


def test_a_job_that_was_never_written_is_not_found(jobs: JobStore) -> None:
    assert jobs.get(JobKey("default", "backup")) is None


@pytest.mark.parametrize("written", [job(), everything_set(), next_revision(job(), "version000000002")])
def test_a_job_reads_back_as_it_was_written(jobs: JobStore, written: Job) -> None:
    assert jobs.put(written, replacing=None)
    assert jobs.get(written.key) == written
    assert jobs.get_many([written.key]) == {written.key: written}
    assert jobs.page("default", "", "", 10).items == (written,)


def test_a_large_payload_stays_outside_of_the_job(jobs: JobStore) -> None:
    payload = large_payload()
    jobs.put(job(definition=Definition(job().definition.written, payload)), replacing=None)
    stored = jobs.get(job().key)
    assert stored is not None
    assert stored.definition.payload == payload._replace(text=None)


@pytest.mark.parametrize("name", [EVERY_CHARACTER, "a", "~" * 128, "...", "jobs#".replace("#", ":")])
def test_jobs_of_different_names_do_not_share_items(jobs: JobStore, name: str) -> None:
    written = job(key=JobKey(name, name))
    jobs.put(written, replacing=None)
    assert jobs.get(written.key) == written
    assert jobs.get(JobKey(name, name + "x")) is None
    assert jobs.get(JobKey(name + "x", name)) is None
    assert jobs.page(name, name, "", 10).items == (written,)


def test_a_job_is_created_only_where_there_is_none(jobs: JobStore) -> None:
    first = job(version="version000000001")
    second = job(version="version000000002", uid="uid0000000000002")
    assert jobs.put(first, replacing=None)
    assert not jobs.put(second, replacing=None)
    assert jobs.get(first.key) == first


def test_a_write_after_its_deadline_is_not_sent(jobs: JobStore) -> None:
    with pytest.raises(StoreError):
        jobs.put(job(), None, lambda: False)
    assert jobs.get(job().key) is None

    jobs.put(job(), None, lambda: True)
    with pytest.raises(StoreError):
        jobs.delete(job(), lambda: False)
    assert jobs.get(job().key) == job()


def test_a_job_is_replaced_only_in_the_version_that_was_read(jobs: JobStore) -> None:
    first = job(version="version000000001")
    second = next_revision(first, "version000000002")
    lost = next_revision(first, "version000000003")
    jobs.put(first, replacing=None)
    assert jobs.put(second, replacing=first.version)
    assert not jobs.put(lost, replacing=first.version)
    assert jobs.get(first.key) == second


def test_a_deleted_job_is_not_replaced(jobs: JobStore) -> None:
    assert not jobs.put(next_revision(job(), "version000000002"), replacing=job().version)
    assert jobs.get(job().key) is None


def test_a_write_that_is_repeated_succeeds_again(jobs: JobStore) -> None:
    first = job(version="version000000001")
    second = next_revision(first, "version000000002")
    assert jobs.put(first, replacing=None)
    assert jobs.put(first, replacing=None)
    assert jobs.put(second, replacing=first.version)
    assert jobs.put(second, replacing=first.version)
    assert jobs.get(first.key) == second


def test_a_pause_that_is_repeated_succeeds_again(jobs: JobStore) -> None:
    first = job(version="version000000001")
    resting = paused(first, "version000000002")
    jobs.put(first, replacing=None)
    assert jobs.put(resting, replacing=first.version)
    assert jobs.put(resting, replacing=first.version)
    assert jobs.get(first.key) == resting


def test_a_repeated_write_succeeds_and_changes_nothing_when_a_later_write_has_built_on_it(
    jobs: JobStore,
) -> None:
    first = job(version="version000000001")
    second = next_revision(first, "version000000002")
    third = next_revision(second, "version000000003")
    resting = paused(third, "version000000004")
    jobs.put(first, replacing=None)
    jobs.put(second, replacing=first.version)
    jobs.put(third, replacing=second.version)
    assert jobs.put(second, replacing=first.version)
    jobs.put(resting, replacing=third.version)
    assert jobs.put(third, replacing=second.version)
    assert jobs.get(first.key) == resting


def test_a_pause_of_a_revision_that_was_replaced_is_refused(jobs: JobStore) -> None:
    first = job(version="version000000001")
    second = next_revision(first, "version000000002")
    jobs.put(first, replacing=None)
    jobs.put(second, replacing=first.version)
    assert not jobs.put(paused(first, "version000000003"), replacing=first.version)
    assert jobs.get(first.key) == second


def test_a_repeated_write_is_refused_if_the_job_now_has_another_uid(jobs: JobStore) -> None:
    first = job(version="version000000001")
    mine = next_revision(first, "version000000002")
    successor = replace(next_revision(mine, "version000000003"), uid="uid0000000000002")
    jobs.put(successor, replacing=None)
    assert not jobs.put(mine, replacing=first.version)
    assert jobs.get(first.key) == successor


def test_one_of_several_threads_that_replace_one_version_succeeds(stores: Stores) -> None:
    jobs = stores.jobs
    first = job(version="version000000001")
    jobs.put(first, replacing=None)
    rivals = [next_revision(first, f"version0000001{number:02d}") for number in range(8)]
    assert winner(lambda rival: jobs.put(rival, replacing=first.version), rivals) == jobs.get(first.key)


def test_the_store_returns_a_job_after_its_expiry(jobs: JobStore) -> None:
    old = job(expires_at=1)
    assert jobs.put(old, replacing=None)
    assert jobs.get(old.key) == old
    assert not jobs.put(job(version="version000000002"), replacing=None)


def test_a_deleted_job_is_not_found(jobs: JobStore) -> None:
    jobs.put(job(), replacing=None)
    assert jobs.delete(job())
    assert jobs.get(job().key) is None
    assert jobs.page("default", "", "", 10).items == ()


def test_a_deletion_that_is_repeated_succeeds_again(jobs: JobStore) -> None:
    jobs.put(job(), replacing=None)
    assert jobs.delete(job())
    assert jobs.delete(job())


def test_a_job_in_another_version_is_not_deleted(jobs: JobStore) -> None:
    first = job(version="version000000001")
    second = next_revision(first, "version000000002")
    jobs.put(first, replacing=None)
    jobs.put(second, replacing=first.version)
    assert not jobs.delete(first)
    assert jobs.get(first.key) == second


def test_a_job_can_be_created_again_after_its_deletion(jobs: JobStore) -> None:
    jobs.put(job(), replacing=None)
    jobs.delete(job())
    again = job(version="version000000002", uid="uid0000000000002")
    assert jobs.put(again, replacing=None)
    assert not jobs.delete(job())
    assert jobs.get(again.key) == again


def test_a_job_that_is_kept_is_the_same_to_every_reader(jobs: JobStore) -> None:
    ended = job(expires_at=NOON)
    assert jobs.put(ended, None)
    assert jobs.keep(ended.key, NOON + 30 * DAY_MS)
    assert jobs.get(ended.key) == ended
    assert not jobs.keep(ended.key, NOON + 30 * DAY_MS)
    assert not jobs.keep(ended.key, NOON + 30 * DAY_MS - 1_000)
    # A writer that read it before is not refused.
    assert jobs.put(next_revision(ended, "version000000002"), ended.version)


def test_a_job_without_an_end_gets_none_and_one_that_is_not_there_is_not_made(jobs: JobStore) -> None:
    endless = job("endless")
    assert endless.expires_at is None
    assert jobs.put(endless, None)
    assert not jobs.keep(endless.key, NOON + 30 * DAY_MS)
    assert jobs.get(endless.key) == endless
    missing = replace(endless, key=endless.key._replace(name="missing"))
    assert not jobs.keep(missing.key, NOON + 30 * DAY_MS)
    assert jobs.get(missing.key) is None


def test_a_read_of_no_keys_returns_no_jobs(jobs: JobStore) -> None:
    assert jobs.get_many([]) == {}
    assert jobs.briefs([]) == {}


def test_a_read_of_any_number_of_keys_returns_the_jobs_that_exist(jobs: JobStore) -> None:
    written = {
        each.key: each
        for each in (
            job(key=JobKey(f"namespace-{number % 3}", f"job-{number}"), shard=number) for number in range(250)
        )
        if each.shard % 5
    }
    for each in written.values():
        jobs.put(each, replacing=None)
    keys = [JobKey(f"namespace-{number % 3}", f"job-{number}") for number in range(250)]
    assert jobs.get_many(keys) == written
    # No engine here has copies that lag behind.
    assert jobs.get_many(keys, may_be_stale=True) == written
    assert jobs.briefs(keys) == {key: brief_of(each) for key, each in written.items()}


def test_a_brief_shows_the_present_revision_and_the_pause(jobs: JobStore) -> None:
    first = job()
    second = next_revision(first, "version000000002")
    third = paused(second, "version000000003")
    for each, replacing in ((first, None), (second, first.version), (third, second.version)):
        assert jobs.put(each, replacing)
        assert jobs.briefs([each.key]) == {each.key: brief_of(each)}


def test_a_brief_shows_the_policy_and_the_priority_of_the_definition(jobs: JobStore) -> None:
    target = job().definition.written["target"]
    version = None
    for number, written in enumerate(({"policy": "mailer", "priority": "low"}, {"priority": "high"}, {})):
        each = job(version=f"version00000000{number}", definition=Definition({"target": target, **written}))
        assert jobs.put(each, version)
        version = each.version
        assert jobs.get(each.key) == each
        (brief,) = jobs.briefs([each.key]).values()
        assert brief == brief_of(each)
        assert (brief.policy, brief.priority) == (written.get("policy"), written.get("priority", "normal"))


def test_pages_show_each_job_once_and_in_the_order_of_names(many_jobs: JobStore) -> None:
    for prefix, limit in [("", 40), ("", len(MANY_NAMES)), ("", 1_000), ("~:", 1), ("b-1", 6)]:
        expected = sorted(name for name in MANY_NAMES if name.startswith(prefix))
        seen: list[str] = []
        after: str | None = ""
        while after is not None:
            page = many_jobs.page("default", prefix, after, limit)
            assert len(page.items) <= limit
            seen.extend(each.key.name for each in page.items)
            assert page.next in (None, seen[-1])
            after = page.next
        assert seen == expected, f"{limit} at a time of those that begin with {prefix!r}"


def test_a_search_shows_each_wanted_job_once_in_order_and_says_how_far_it_looked(many_jobs: JobStore) -> None:
    replaced = next_revision(job("b-7"), "version000000002")
    many_jobs.put(replaced, replacing=job("b-7").version)
    for prefix, part, limit in [("", "", 160), ("", "7", 5_000), ("b-", "never", 96), ("~:", "", 48)]:
        expected = sorted(name for name in MANY_NAMES if name.startswith(prefix) and part in name)
        seen: list[Job] = []
        after: str | None = ""
        while after is not None:
            page = many_jobs.search("default", prefix, after, limit, lambda name, _, part=part: part in name)
            assert page.next is None or after < page.next
            assert all(after < each.key.name <= (page.next or each.key.name) for each in page.items)
            seen.extend(page.items)
            after = page.next
        assert [each.key.name for each in seen] == expected, (prefix, part, limit)
        assert replaced in seen or "b-7" not in expected


def test_a_search_sees_what_was_written_and_goes_on_beside_other_writes(
    jobs: JobStore,
) -> None:
    def labelled(name: str) -> Job:
        made = job(name)
        written = {**made.definition.written, "labels": {"team": "ops"}}
        return replace(made, definition=replace(made.definition, written=written))

    for number in range(100):
        jobs.put((labelled if number % 10 == 0 else job)(f"job-{number:03}"), replacing=None)

    def search(after: str) -> tuple[list[str], str | None]:
        page = jobs.search("default", "", after, 32, lambda _, written: "labels" in written)
        return [each.key.name for each in page.items], page.next

    names, after = search("")
    assert after is not None
    jobs.delete(labelled("job-000"))
    jobs.put(labelled("aaa"), replacing=None)
    jobs.put(labelled("job-099-new"), replacing=None)
    while after is not None:
        found, after = search(after)
        names += found
    assert names == [*(f"job-{number:03}" for number in range(0, 100, 10)), "job-099-new"]


def test_a_page_begins_after_a_name_and_keeps_to_a_prefix(many_jobs: JobStore) -> None:
    for prefix, after in product(["", "a1", "b-2", "nothing", "~"], ["", "a1", "a11", "b", "~~"]):
        page = many_jobs.page("default", prefix, after, 200)
        expected = sorted(name for name in MANY_NAMES if name.startswith(prefix) and name > after)
        assert [each.key.name for each in page.items] == expected[:200], f"{prefix!r} after {after!r}"
        assert page.next == (expected[199] if len(expected) > 200 else None)


def test_a_page_shows_one_namespace(many_jobs: JobStore) -> None:
    names = {each.key for each in many_jobs.page("other", "", "", 200).items}
    assert names == {JobKey("other", "a1")}


def test_a_namespace_without_jobs_is_an_empty_page(many_jobs: JobStore) -> None:
    page = many_jobs.page("empty", "", "", 50)
    assert (page.items, page.next) == ((), None)


def revision_name(rev: str = "1-version000000001", uid: str = "uid0000000000001") -> RevisionName:
    return RevisionName(JobKey("default", "backup"), uid, rev)


def test_a_filed_revision_reads_back_as_it_was_filed(jobs: JobStore) -> None:
    name = RevisionName(JobKey(EVERY_CHARACTER, EVERY_CHARACTER), "uid0000000000001", "1-version000000001")
    revision = Revision(name.rev, NOON - 1, NOON)
    jobs.file(name, revision)
    jobs.file(name, revision)
    assert jobs.filed([name]) == {name: revision}


def test_a_filed_revision_is_found_by_its_job_its_uid_and_its_name_alone(jobs: JobStore) -> None:
    name = revision_name()
    jobs.file(name, Revision(name.rev, NOON - 1, NOON))
    others = [
        revision_name("1-version000000002"),
        revision_name(uid="uid0000000000002"),
        name._replace(key=JobKey("default", "backup2")),
        name._replace(key=JobKey("default2", "backup")),
    ]
    assert jobs.filed(others) == {}
    assert list(jobs.filed([*others, name])) == [name]
    assert jobs.filed([]) == {}


def test_any_number_of_filed_revisions_is_read_at_once(jobs: JobStore) -> None:
    revisions = [Revision(f"{number}-version", NOON + number, NOON + number + 1) for number in range(1, 251)]
    for each in revisions:
        jobs.file(revision_name(each.rev), each)
    assert jobs.filed([revision_name(each.rev) for each in revisions]) == {
        revision_name(each.rev): each for each in revisions
    }


def test_a_filed_revision_is_no_job(jobs: JobStore) -> None:
    name = revision_name()
    jobs.file(name, Revision(name.rev, NOON - 1, NOON))
    assert jobs.get(name.key) is None
    assert jobs.page("default", "", "", 10).items == ()
