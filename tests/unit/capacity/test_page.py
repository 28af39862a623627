"""docs/capacity.md is what `make capacity` writes."""

import re

import pytest
from infra.capacity.__main__ import current
from infra.capacity.blocks import BLOCKS
from infra.capacity.page import PAGE, UnknownBlockError, renewed

BLANK = "before\n<!-- `make capacity`: one -->\nold\n<!-- end -->\nafter\n"


def test_the_page_is_what_the_model_the_template_and_the_measured_points_give() -> None:
    page = PAGE.read_text("utf-8")
    assert page == current(page), "run `make capacity`"


def test_a_block_is_replaced_and_all_other_text_is_kept() -> None:
    made = renewed(BLANK, {"one": lambda: ["| new |", "| row |"]})
    assert made == BLANK.replace("old", "| new |\n| row |")
    assert renewed(made, {"one": lambda: ["old"]}) == BLANK


@pytest.mark.parametrize("blocks", [{}, {"one": list, "two": list}])
def test_a_page_with_other_blocks_is_refused(blocks: dict[str, type[list[str]]]) -> None:
    with pytest.raises(UnknownBlockError):
        renewed(BLANK, blocks)


@pytest.mark.parametrize("name", BLOCKS)
def test_every_table_has_as_many_cells_in_each_row(name: str) -> None:
    page = PAGE.read_text("utf-8")
    block = page.partition(f"<!-- `make capacity`: {name} -->")[2].partition("<!-- end -->")[0]
    for table in re.findall(r"(?:^\|.*\|\n)+", block, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table


def test_every_plot_has_as_many_values_as_its_axis_has_places() -> None:
    plots = re.findall(r"```mermaid\nxychart-beta\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert plots
    for plot in plots:
        [axis] = re.findall(r'x-axis ".*" \[(.*)\]', plot)
        for values in re.findall(r"^    (?:bar|line) \[(.*)\]", plot, re.MULTILINE):
            assert values.count(",") == axis.count(",")
