"""The form of the editor has every field of a job that the API has, with its kind, values and default."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect
from tests.integration.console.conftest import NARROW, WIDE, Console, serious_barriers

from sweephand.jobs.fields.field import Duration, Field, Flag, Number, Object, OneOf, TargetOf
from sweephand.jobs.fields.registry import FIELDS
from sweephand.targets.registry import end_target_types
from sweephand.targets.target_type import Field as TargetField

Open = Callable[..., Console]

#: What no person writes. The form says that the JSON has it.
NOT_IN_FORM: Final = {"/eventbridge"}

#: What the form has beside the definition.
NOT_IN_DEFINITION: Final = {"/name"}

#: A schedule of each kind that has inputs of its own.
SCHEDULES: Final = ("0 9 * * *", "@every 1h", {"hour": "9"}, ["2027-01-01T00:00:00Z"])

#: The pointers of the inputs. Rows have that of their field at the button that adds one.
IDS: Final = """() => [...document.querySelectorAll(
    '.editor :is(input, select, textarea, .rows > button)[id^="/"]')].map(({ id }) => id)"""


def write_json(page: Page, definition: Mapping[str, Any]) -> None:
    page.get_by_label("The whole definition").fill(json.dumps(definition))


def leaves(fields: tuple[Field, ...], base: str = "") -> Iterator[tuple[str, Field]]:
    """The fields of a job with their pointers, those of objects in place of the objects."""
    for each in fields:
        if isinstance(each.shape, Object):
            yield from leaves(each.shape.fields, f"{base}/{each.name}")
        else:
            yield f"{base}/{each.name}", each


def target_fields() -> Iterator[tuple[str, str, TargetField]]:
    """The fields of targets: the pointer of the target, its type, and the field."""
    for pointer, field in leaves(FIELDS):
        if isinstance(field.shape, TargetOf):
            for name, each in field.shape.types().items():
                yield from ((pointer, name, own) for own in each.own_fields)


def test_every_field_of_a_job_has_an_input_and_no_other_has(open_console: Open) -> None:
    page = open_console().show("ns/new")
    found: set[str] = set()
    for schedule in SCHEDULES:
        write_json(page, {"schedule": schedule})
        found |= set(page.evaluate(IDS))
    for name in end_target_types():
        is_job = name == "job"
        write_json(
            page,
            {each: {"type": name} for each in ("onComplete", *(() if is_job else ("target", "onAlert")))},
        )
        found |= set(page.evaluate(IDS))
    found = {each for each in found if not re.search(r"/\d+$", each)} - NOT_IN_DEFINITION
    parts = {
        f"/schedule/{each}"
        for each in ("second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek", "year")
    }
    wanted = {pointer for pointer, _ in leaves(FIELDS)} | parts
    wanted |= {f"{pointer}/{field.name}" for pointer, _, field in target_fields()}
    assert found == wanted - NOT_IN_FORM


def test_each_input_fits_its_field_and_says_the_default(open_console: Open) -> None:
    page = open_console().show("ns/new")
    write_json(page, {})
    for pointer, field in leaves(FIELDS):
        if isinstance(field.shape, OneOf | Flag):
            values = field.shape.values if isinstance(field.shape, OneOf) else ("false", "true")
            check_choice(page, pointer, values, field.meaning)
        elif isinstance(field.shape, Number | Duration):
            shown = page.locator(f'[id="{pointer}"]').get_attribute("placeholder") or ""
            default = re.search(r"(\S+) by default", field.meaning)
            assert default is None or shown == f"default: {default[1]}", pointer
            is_number = page.locator(f'[id="{pointer}"]').get_attribute("inputmode") == "decimal"
            assert is_number == isinstance(field.shape, Number), pointer


def test_each_input_of_a_target_offers_the_values_of_its_field(open_console: Open) -> None:
    page = open_console().show("ns/new")
    for pointer, name, field in target_fields():
        if "enum" in field.schema:
            write_json(page, {pointer[1:]: {"type": name}})
            check_choice(page, f"{pointer}/{field.name}", field.schema["enum"], field.meaning)


def test_a_target_is_of_each_type_that_its_field_takes(open_console: Open) -> None:
    page = open_console().show("ns/new")
    for pointer, field in leaves(FIELDS):
        if isinstance(field.shape, TargetOf):
            assert set(options(page, pointer)) == {"", *field.shape.types()}


def options(page: Page, pointer: str) -> dict[str, str]:
    """The values of a choice, each with its words."""
    script = "(select) => [...select.options].map((each) => [each.value, each.text])"
    return dict(page.locator(f'[id="{pointer}"]').evaluate(script))


def check_choice(page: Page, pointer: str, values: Any, meaning: str) -> None:
    found = options(page, pointer)
    assert set(found) == {"", *values}, pointer
    stated = re.search(r"`?(\w+)`? (?:\(default\)|\(the default\)|by default)", meaning)
    if stated is not None:
        assert found[""] == f"default: {found[stated[1]]}", pointer


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_all_groups_at_once_have_no_serious_barrier_and_fit_the_window(
    open_console: Open, scheme: str, size: Any
) -> None:
    console = open_console(size=size, scheme=scheme)
    page = console.show("ns/new")
    hook = {
        "type": "http",
        "url": "https://consumer.example/hook",
        "headers": {"authorization": {"secretRef": "token"}},
    }
    write_json(
        page,
        {
            "schedule": {"hour": "3,9", "dayOfWeek": "MON-FRI"},
            "timezone": "Europe/Paris",
            "target": hook,
            "data": {"task": "db-backup", "tables": ["orders"]},
            "retry": {"maxAttempts": 3, "maxAge": "6h"},
            "overlap": "wait",
            "onComplete": {"type": "job", "name": "nightly-backup"},
            "labels": {"team": "ops", "tier": "1"},
            "unknown": True,
        },
    )
    page.get_by_label("Name", exact=True).fill("report")
    expect(page.get_by_text("by the clock of Europe/Paris")).to_be_visible()
    console.shoot(f"editor-closed-{scheme}")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_label("Refused lines")).to_be_visible()
    page.evaluate("document.querySelectorAll('.editor details').forEach((each) => { each.open = true; })")
    console.shoot(f"editor-open-{scheme}")
    assert [each["id"] for each in serious_barriers(page)] == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
