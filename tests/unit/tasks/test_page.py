"""docs/console.md has the tasks as they were performed, and no count of what was not."""

from infra.tasks import results
from infra.tasks.page import HEADING, PAGE, rendered, table
from infra.tasks.results import TASKS

PERFORMED = {
    task.name: {results.named(place): way.digest for place, way in task.ways().items() if way.exists}
    for task in TASKS
}


def test_the_page_is_that_of_what_was_performed() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == rendered(text, results.load())


def test_every_way_was_performed_as_it_is_now() -> None:
    assert results.load() == PERFORMED


def test_there_are_twenty_tasks() -> None:
    assert len(TASKS) == 20
    assert len({task.name for task in TASKS}) == 20


def test_a_way_that_was_not_performed_has_no_count() -> None:
    name = "Redrive what failed in the last hour"
    (row,) = [line for line in table(PERFORMED).splitlines() if name in line]
    assert row == f"| {name} | 4 | 1 | - | 4 |"
    without = {**PERFORMED, name: {**PERFORMED[name], "commands": "another digest"}}
    (row,) = [line for line in table(without).splitlines() if name in line]
    assert row == f"| {name} | 4 | not performed | - | 4 |"
    assert table(without).splitlines()[-1] != table(PERFORMED).splitlines()[-1]


def test_a_table_is_written_in_its_section_alone() -> None:
    page = f"# A\n\ntext\n\n{HEADING}\n\nold\n\n## B\n\nmore\n"
    made = rendered(page, PERFORMED)
    assert made.startswith("# A\n\ntext\n\n" + HEADING)
    assert made.endswith("\n## B\n\nmore\n")
    assert "old" not in made
    assert rendered(made, PERFORMED) == made


def test_a_task_is_new_only_once_it_was_performed() -> None:
    page = f"{HEADING}\n"
    assert "4 tasks are new in the command line, and 5 in the console." in rendered(page, PERFORMED)
    assert "0 tasks are new in the command line, and 0 in the console." in rendered(page, {})
