"""On a phone nothing is lost: each action and each column of the wide layout can be reached at 390 pixels."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect
from tests.integration.console.conftest import NARROW, WIDE, Console, Town
from tests.integration.console.test_every_screen import SCREENS

Open = Callable[..., Console]

#: What a finger can reach on the present screen: the names of the actions, and the columns of each table. An
#: action counts if it can be scrolled to, and if nothing lies over it. A column counts if all its cells can
#: be scrolled into the window by their whole width, unless they are empty. What is folded is opened first.
REACHED: Final = """() => {
    const shows = (element) =>
        element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
    const nameOf = (element) => (element.getAttribute("aria-label") || element.labels?.[0]?.textContent
        || element.textContent || element.title || "").replace(/\\s+/g, " ").trim();
    for (const each of document.querySelectorAll("details.fold")) each.open = true;
    const actions = [];
    const kinds = ":is(a, button, input, select, textarea, summary)";
    for (const each of document.querySelectorAll(`header ${kinds}, main ${kinds}`)) {
        if (!shows(each) || each.matches(".unseen")) continue;
        each.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
        const { left, right, top, bottom } = each.getClientRects()[0];
        const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        const isHit = hit && (each.contains(hit) || hit.contains(each));
        if (isHit) actions.push(`${each.localName} ${nameOf(each)}`);
    }
    const columns = [];
    for (const table of document.querySelectorAll("main .scroll > table")) {
        const label = table.parentElement.getAttribute("aria-label");
        [...table.tHead.rows[0].cells].forEach((title, at) => {
            const isReached = [...table.tBodies[0].rows].slice(0, 3).every((row) => {
                const cell = row.cells[at];
                if (!cell || !cell.textContent.trim()) return true;
                cell.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
                const { left, right, height } = cell.getBoundingClientRect();
                return shows(cell) && height > 0 && left >= -1 && right <= innerWidth + 1;
            });
            if (isReached) columns.push(`${label}: ${title.textContent.trim()}`);
        });
    }
    scrollTo(0, 0);
    return { actions, columns, excess: document.documentElement.scrollWidth - innerWidth };
}"""


def lost(wide: dict[str, Any], narrow: dict[str, Any]) -> list[str]:
    """What can be reached in the wide layout and not in the narrow one."""
    return [
        each
        for kind in ("actions", "columns")
        for each in (Counter(wide[kind]) - Counter(narrow[kind])).elements()
    ]


def reached(page: Page) -> dict[str, Any]:
    """What can be reached on a screen that is complete."""
    page.wait_for_load_state("networkidle")
    found: dict[str, Any] = page.evaluate(REACHED)
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("half", [0, 1])
def test_a_phone_loses_no_action_and_no_column_of_any_screen(
    open_console: Open, town: Town, half: int
) -> None:
    town.put_mail_out(hours=2)
    town.furnish()
    wide, narrow = open_console(), open_console(size=NARROW)
    wrong: dict[str, list[str]] = {}
    for name, screen in [*SCREENS.items()][half::2]:
        on_desk, on_phone = reached(wide.show(screen)), reached(narrow.show(screen))
        narrow.shoot(f"phone-{name}")
        if found := lost(on_desk, on_phone):
            wrong[name] = found
        assert on_phone["excess"] <= 0, f"{name} scrolls sideways"
        assert on_desk["actions"], name
    assert wrong == {}


@pytest.mark.parametrize(
    ("style", "what"),
    [
        ("td:nth-child(4) { display: none !important }", "Policies: Waiting"),
        (".bar .jump { display: none }", "button Jump to"),
        (".verbs { transform: translateX(-500px) }", "button New policy"),
        ("table { min-width: 700px } .scroll { overflow: hidden !important }", "Policies: "),
    ],
)
def test_what_a_phone_would_lose_is_found(open_console: Open, style: str, what: str) -> None:
    """The test above can fail."""
    wide = reached(open_console(size=WIDE).show("ns/policies"))
    page = open_console(size=NARROW).show("ns/policies")
    page.evaluate(
        """style => { const sheet = new CSSStyleSheet(); sheet.replaceSync(style);
        document.adoptedStyleSheets = [sheet]; }""",
        style,
    )
    assert any(each.startswith(what) for each in lost(wide, reached(page)))


def test_each_cell_of_a_card_says_its_column(open_console: Open) -> None:
    page = open_console(size=NARROW).show("ns/policies")
    cell = page.get_by_role("row").filter(has_text="mailer").get_by_role("cell").nth(1)
    expect(cell).to_contain_text("5 at once")
    assert cell.evaluate("each => getComputedStyle(each, '::before').content") == '"Limit"'
