"""The site that `make docs` has built: its search, its files, and what a browser shows of it."""

import json
import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from infra.local.places import ROOT
from playwright.sync_api import Page, expect

from sweephand_client.commands.docs import SITE as BUILT

SITE: Final = ROOT / BUILT
SEARCH: Final = Path(__file__).with_name("search.cjs")
QUESTIONS: Final = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))
ANSWERS: Final = [pair for group in QUESTIONS.values() for pair in group.items()]

#: How many pages a reader looks at.
PAGES_MAX: Final = 3

#: What makes a browser load something: attributes of elements that load, and the words of style sheets.
LOADING: Final = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object|use|image)\b[^>]*?"
    r"\s(?:src|srcset|data|href|xlink:href)=[\"']?\s*((?:https?:)?//[^\"' >]+)"
    r"|<link\b(?![^>]*rel=[\"']?(?:author|license))[^>]*?\shref=[\"']?\s*((?:https?:)?//[^\"' >]+)"
    r"|(?:url\(|@import\s)[\"'\s]*((?:https?:)?//[^\"')]+)"
)
#: What makes a script load something.
REQUESTING: Final = re.compile(
    r"(?:fetch|import|importScripts|open|sendBeacon|WebSocket|EventSource|Worker)\s*\(\s*[\"'`](?:https?:|wss?:)?//"
)
LINK: Final = re.compile(r"\]\(([^)\s#:]+)[)#]")
FENCED: Final = re.compile(r"^( *)```.*?^\1```$", flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module", autouse=True)
def site() -> Path:
    if not (SITE / "index.html").is_file():
        pytest.skip("The site is not built: make docs")
    return SITE


@cache
def found() -> dict[str, list[str]]:
    """The places of the pages that the site's search finds for each question."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node, which runs the site's search, is not installed")
    asked = {"static": str(SITE / "_static"), "questions": [question for question, _ in ANSWERS]}
    done = subprocess.run(  # noqa: S603 - our own site
        [node, SEARCH], input=json.dumps(asked), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, list[str]] = json.loads(done.stdout)
    return answers


def test_twenty_questions_are_those_of_an_operator_and_twenty_eight_those_of_a_developer() -> None:
    assert {reader: len(questions) for reader, questions in QUESTIONS.items()} == {
        "operator": 20,
        "developer": 28,
    }


@pytest.mark.parametrize(("question", "answer"), ANSWERS, ids=[question for question, _ in ANSWERS])
def test_the_search_finds_the_answer_among_its_first_pages(question: str, answer: str) -> None:
    assert answer in found()[question][:PAGES_MAX]


def test_the_site_loads_nothing_from_another_host(site: Path) -> None:
    foreign = {
        f"{path.relative_to(site)}: {match[0]}"
        for path in site.rglob("*")
        if path.suffix in {".html", ".css", ".js", ".svg"}
        for pattern in (LOADING, REQUESTING)
        for match in pattern.finditer(path.read_text("utf-8"))
    }
    assert foreign == set()


@pytest.mark.parametrize(
    "text",
    [
        '<script defer src="https://cdn.example/x.js">',
        "<link rel=stylesheet href=//cdn.example/x.css>",
        '<img alt="" src="http://cdn.example/x.png">',
        "@import 'https://fonts.example/css'",
        "src: url(https://fonts.example/x.woff2)",
    ],
)
def test_what_loads_from_another_host_is_recognized(text: str) -> None:
    assert LOADING.search(text)


def test_each_page_has_its_markdown_beside_it_whose_links_lead_to_files(site: Path) -> None:
    pages = [path for path in site.rglob("*.html") if path.name != "search.html"]
    assert len(pages) > 50
    for page in pages:
        markdown = page.with_suffix(".md")
        for link in LINK.findall(FENCED.sub("", markdown.read_text("utf-8"))):
            assert (markdown.parent / link).is_file(), (markdown, link)


def test_llms_txt_names_pages_that_exist(site: Path) -> None:
    links = LINK.findall((site / "llms.txt").read_text("utf-8"))
    assert len(links) > 40
    assert [link for link in links if not (site / link).is_file()] == []


def test_the_site_is_searched_and_read_without_a_server(site: Path, page: Page) -> None:
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))

    page.goto((site / "concepts.html").as_uri())
    expect(page.locator("article svg:visible").first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("pause a job")
    page.keyboard.press("Enter")
    expect(page.locator("#found li > a").first).to_have_text("Pauses and outages")
    page.fill("#question", "zzzqqq")
    expect(page.locator("#said")).to_have_text("No page has any of these words.")
    page.goto(f"{(site / 'search.html').as_uri()}?q={quote('How do I rotate an API key?')}")
    page.locator("#found li > a").first.click()
    expect(page.locator("h1")).to_contain_text("Keys and roles")

    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_an_example_is_shown_in_the_way_that_the_reader_has_chosen_on_another_page(
    site: Path, page: Page
) -> None:
    for name, chosen, is_new in (
        ("jobs", "Command line", False),
        ("jobs", "HTTP", True),
        ("overlap", "HTTP", False),
        ("overlap", "Python", True),
        ("jobs", "Python", False),
    ):
        page.goto((site / f"{name}.html").as_uri())
        if is_new:
            page.get_by_text(chosen, exact=True).click()
        expect(page.get_by_role("radio", name=chosen, exact=True)).to_be_checked()
        shown = page.locator(".tabs ~ [class*=highlight-]:visible")
        expect(shown).to_have_count(1)
        expect(shown).to_contain_text(
            {"Command line": "sweephand job", "HTTP": "curl", "Python": "client.jobs"}[chosen]
        )
