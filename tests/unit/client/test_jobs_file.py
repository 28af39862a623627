"""A file of jobs is read as it is written: YAML 1.2 with exact numbers."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile, read_jobs_file, write_jobs_file

FILE = """
namespace: web1
labels: {managed-by: web1}
prefix: web1-
defaults:
  timezone: Europe/Paris
jobs:
  - name: web1-poll
    schedule: "*/5 8-18 * * mon-fri"
    labels: {team: ops}
  - name: web1-backup
    schedule: 30 2 * * 1-5
    timezone: UTC
    paused: The database moves.
"""

#: More digits than Python reads as an int, and more digits of an exponent than a Decimal takes.
LONG = ("9" * 5_000, "-" + "1" * 4_301, "1e" + "9" * 20, "-0.5E-99999999999999999999")

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs", "Cc"])), inner)
    ),
)


def test_a_file_declares_jobs_with_its_labels_and_defaults() -> None:
    assert read_jobs_file(FILE) == JobsFile(
        (
            DeclaredJob(
                "web1-poll",
                {
                    "timezone": "Europe/Paris",
                    "schedule": "*/5 8-18 * * mon-fri",
                    "labels": {"team": "ops", "managed-by": "web1"},
                },
            ),
            DeclaredJob(
                "web1-backup",
                {"timezone": "UTC", "schedule": "30 2 * * 1-5", "labels": {"managed-by": "web1"}},
                "The database moves.",
            ),
        ),
        "web1",
        {"managed-by": "web1"},
        "web1-",
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("2027-01-01", "2027-01-01"),
        ("2027-01-01T09:00:00Z", "2027-01-01T09:00:00Z"),
        ("010", "010"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        (".5", ".5"),
        ("true", True),
        ("null", None),
        ("", None),
        ("-7", -7),
        ("12345678901234567890123", 12345678901234567890123),
        ("1.10", Decimal("1.10")),
        ("1e400", Decimal("1e400")),
        *((each, Decimal(each)) for each in LONG[:2]),
    ],
)
def test_a_value_means_what_is_written(text: str, value: object) -> None:
    (job,) = read_jobs_file(f"jobs:\n  - name: a\n    data: {text}\n").jobs
    found = job.definition["data"]
    assert (type(found), str(found)) == (type(value), str(value))


def test_a_body_of_the_bulk_call_is_a_file_too() -> None:
    (job,) = read_jobs_file('{"jobs": [{"name": "a", "data": {"x": [1.10]}}]}').jobs
    assert job == DeclaredJob("a", {"data": {"x": [Decimal("1.10")]}})


#: Files whose fields are not those of a file of jobs, or have values of other types.
MISSHAPEN = [
    ("", "no list `jobs`"),
    ("[]", "no list `jobs`"),
    ("jobs: {}", "no list `jobs`"),
    ("jobs: []\nowner: x", "/owner: there is no such field"),
    ("jobs: [x]", "/jobs/0: give an object"),
    ("jobs: [{schedule: x}]", "/jobs/0/name: give the name"),
    ("jobs: [{name: a b}]", "/jobs/0/name: give the name of the job, a text: 1 to 128 of"),
    ("jobs: [{name: ..}]", "/jobs/0/name: give the name of the job, .* not only one or two dots"),
    ("jobs: [{name: a, paused: 3}]", "/jobs/0/paused: give a reason"),
    ("labels: {a: 1}\njobs: []", "/labels: give an object of texts"),
    ("labels: []\njobs: []", "/labels: give an object of texts"),
    ("labels: {a: b}\njobs: [{name: a, labels: x}]", "/jobs/0/labels: give an object"),
    ("namespace: 3\njobs: []", "/namespace: give a text"),
    ("defaults: 3\njobs: []", "/defaults: give an object"),
    ("defaults: {name: a}\njobs: [{}]", "/defaults/name: give each job a name of its own"),
    ("settings: []\njobs: []", "/settings: give an object with the settings"),
    ("policies: 3\njobs: []", "/policies: give an object with a policy at each name"),
    ("windows: {a: 2h}\njobs: []", "/windows/a: give an object with the fields of a window"),
    ("prefix: 3\njobs: []", "/prefix: give a text"),
    ("prefix: false\njobs: []", "/prefix: give a text"),
]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *MISSHAPEN,
        ("jobs: [", "not YAML: .* at line 1"),
        ("jobs:\n  - name: a\n    name: b", "the name name stands twice at line 3, column 5"),
        ("jobs: [{name: a}, {name: a}]", "/jobs/1/name: an earlier job has the name a"),
        ("prefix: x-\njobs: [{name: a}]", "/jobs/0/name: a does not begin with"),
        ("jobs: [{name: a, 3: x}]", "a name is not a text"),
        ("jobs: [!!python/name:os.system {}]", "not YAML"),
        ("jobs: []\npolicies: {a b: {}}", "line 2, /policies/a b: give its name 1 to 128 of"),
        ("a: &a [*a]\njobs: []", "not YAML|/a: there is no such field"),
        ("jobs: [\x00]", "not YAML"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_jobs_file(text)


@pytest.mark.parametrize("text", LONG, ids=lambda each: each[:8])
def test_a_number_of_any_length_keeps_its_digits(text: str) -> None:
    value = exact_json.read(text)
    assert exact_json.write(value) == text
    assert value == exact_json.read(text)
    (job,) = read_jobs_file(f"jobs: [{{name: a, data: {text}}}]").jobs
    assert job.definition["data"] == value
    assert f"data: {text}" in write_jobs_file(JobsFile((job,)), {}).replace("data:\n      ", "data: ")


def test_a_file_shows_no_character_that_could_control_a_terminal() -> None:
    hostile = "a\x9b\u202e\u2066\u061c\U000e0001é"
    file = JobsFile((DeclaredJob("a", {"data": {hostile: hostile}}),))
    written = write_jobs_file(file, {"": [hostile]})
    assert [each for each in written if not each.isprintable() and each != "\n"] == []
    assert read_jobs_file(written) == file


@given(_VALUES)
def test_a_file_that_was_written_is_read_as_it_was(value: object) -> None:
    file = JobsFile((DeclaredJob("a", {"data": value}, paused=True),), "ns", {"a": "1", "b": "no"}, "a")
    read = read_jobs_file(write_jobs_file(file, {"": ["about all"], "a": ["about a"]}))

    assert exact_json.write(read.jobs[0].definition["data"]) == exact_json.write(value)
    assert (read.jobs[0].paused, read.namespace, read.labels) == (True, "ns", {"a": "1", "b": "no"})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("!!set {a, b}", "the tag !!set makes no value of JSON; leave it out at line 4, column 9"),
        ("!!timestamp 2027-01-01", "the tag !!timestamp makes no value"),
        ("!!binary aGVsbG8=", "the tag !!binary makes no value"),
        ("!!omap [a: 1]", "the tag !!omap makes no value"),
        ("!!python/object:os.system x", "makes no value"),
        ("!local x", "the tag !local makes no value"),
        ("!!float .inf", "'.inf' is no float of JSON"),
        ("!!float .nan", "'.nan' is no float of JSON"),
        ("!!int 0x1F", "'0x1F' is no int of JSON"),
        ("!!bool maybe", "'maybe' is no bool of JSON"),
        ("!!null x", "'x' is no null of JSON"),
        ("!!map [a]", "expected a mapping node"),
        ("!!seq {a: b}", "expected a sequence node"),
        ("!!int [a]", "expected a scalar node"),
    ],
)
def test_a_tag_that_makes_no_value_of_json_is_refused_with_its_place(value: str, said: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_jobs_file(f"jobs:\n- name: a\n  target: {{}}\n  data: {value}\n")
    assert said in str(refusal.value)
    assert "at line 4, column" in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("!!str 5", "5"),
        ("!!int 5", 5),
        ("!!float 1.5", Decimal("1.5")),
        ("!!bool true", True),
        ("!!null ~", None),
    ],
)
def test_a_tag_of_json_is_obeyed(value: str, meant: object) -> None:
    (job,) = read_jobs_file(f"jobs:\n- name: a\n  data: {value}\n").jobs
    assert job.definition["data"] == meant


@pytest.mark.parametrize("value", [".inf", "-.Inf", ".NaN", "0x1F", "2027-01-01", "yes"])
def test_what_json_does_not_know_is_text(value: str) -> None:
    (job,) = read_jobs_file(f"jobs:\n- name: a\n  data: {value}\n").jobs
    assert job.definition["data"] == value


def test_merges_that_would_make_billions_of_fields_are_refused() -> None:
    merges = "".join(f"- &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 100)}], name: n{n}}}\n" for n in range(1, 6))
    with pytest.raises(InputError, match="merges make more than 262144 fields at line"):
        read_jobs_file(f"jobs:\n- &a0 {{name: a}}\n{merges}")


def test_a_file_of_too_many_levels_is_refused() -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        read_jobs_file(f"jobs: {'[' * 3_000}{']' * 3_000}")


@pytest.mark.parametrize("head", ["jobs: [{name: a}]\ndefaults:", "jobs:\n- name: a"])
def test_aliases_that_would_make_billions_of_values_are_refused(head: str) -> None:
    aliases = "".join(f"    a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 20)}]\n" for n in range(1, 9))
    with pytest.raises(InputError, match="/jobs/0: give at most 262144 values"):
        read_jobs_file(f"{head}\n  data:\n    a0: &a0 x\n{aliases}")
