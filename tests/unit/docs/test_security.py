"""Every scenario of docs/security.md names a test that exists, and the static checks of security are on."""

import ast
import re
import tomllib
from typing import Any, Final

import pytest
from infra.local.places import ROOT

PAGE: Final = ROOT / "docs" / "security.md"

#: The items of the page. Each is a scenario.
ITEMS: Final = re.findall(r"^- .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

_TEST: Final = r"`([^`]+)::(test_\w+)`"

#: A scenario: what the attacker does, what happens, and the tests that try it.
_SCENARIO: Final = re.compile(rf"- \*\*[^*]+\*\*: [^*]+ \({_TEST}(, {_TEST})*\)")

#: The path and the name of each test.
TRIED: Final = [test for item in ITEMS for test in re.findall(_TEST, item)]

SOURCES: Final = ("layers", "functions")


@pytest.mark.parametrize(("path", "name"), TRIED)
def test_the_test_that_a_scenario_names_exists(path: str, name: str) -> None:
    assert (ROOT / path).is_relative_to(ROOT / "tests")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


def test_every_item_of_the_page_is_a_scenario_with_its_tests_and_there_are_at_least_a_hundred() -> None:
    assert [item for item in ITEMS if not _SCENARIO.fullmatch(item)] == []
    assert len(ITEMS) >= 100
    assert len(set(TRIED)) >= len(ITEMS)


def test_the_checks_for_known_kinds_of_weaknesses_are_on() -> None:
    """Ruff's rules S are those of bandit. `make lint` runs them."""
    config: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert config["select"] == ["ALL"]
    # S101 is about asserts, which guard our own mistakes and never input.
    assert {each for each in config["ignore"] if re.fullmatch(r"S\d*", each)} == {"S101"}
    exempt = {
        pattern: rules
        for pattern, rules in config["per-file-ignores"].items()
        if any(re.fullmatch(r"S\d*", each) for each in rules)
    }
    assert set(exempt) == {"tests/**", "infra/**"}, "nothing that goes to Lambda is exempt"


def test_no_code_that_goes_to_lambda_waives_a_check_without_a_reason() -> None:
    waived = [
        line
        for source in SOURCES
        for path in sorted((ROOT / source).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"# noqa:[^-]*\bS\d", line)
    ]
    assert all(re.search(r"# noqa: [A-Z0-9, ]+ - \S", line) for line in waived), waived
    assert len(waived) <= 1, "each is a place to look at again"


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/security.md"])
def test_the_readme_leads_to_the_pages_about_security(page: str) -> None:
    assert f"]({page})" in (ROOT / "README.md").read_text(encoding="utf-8")
