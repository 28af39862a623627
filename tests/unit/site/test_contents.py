"""Which pages the site has, and what is in its reference of the API."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from infra.site.contents import contents
from infra.site.pages import INDEX, Page, SiteError, Tree, navigation, read
from infra.site.sections import Section, sections

from sweephand.web.operations import OPERATIONS, description


@cache
def tree() -> Tree:
    return contents(json.loads(description()))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small checkout."""
    pages = {
        "docs/README.md": "# Index\n\n## Write\n\n- Write jobs: [jobs](jobs.md), [http](targets/http.md).\n\n"
        "## Change\n\n- Delete a job: [deleting](jobs.md#deleting).\n- Begin: [overview](../README.md).\n",
        "docs/jobs.md": "# Jobs\n\n[overview](../README.md#begin) and [settings](../settings.toml)\n",
        "docs/targets/http.md": "# Target `http`\n\n```md\n[none](nowhere.md)\n```\n\n[jobs](../jobs.md)\n",
        "docs/decisions/README.md": "# Decisions\n",
        **{name: f"# {name}\n" for name in ("README.md", "SECURITY.md", "CHANGELOG.md")},
        **{name: f"# {name}\n" for name in ("tests/README.md", "client/README.md")},
        "settings.toml": "",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_index_leads_to_every_page_of_the_repository() -> None:
    assert {"index.md", "jobs.md", "overview.md", "reference/jobs.md"} < tree().pages.keys()


def test_links_lead_to_the_places_of_the_site_and_blocks_of_code_stay(root: Path) -> None:
    found = read(root)
    assert found.pages["jobs.md"].text.endswith(
        "[overview](overview.md#begin) and [settings](files/settings.toml)\n"
    )
    assert found.files == {"files/settings.toml": root / "settings.toml"}
    assert "[none](nowhere.md)" in found.pages["targets/http.md"].text
    assert found.pages["targets/http.md"].title == "Target http"


def test_a_link_to_nothing_is_refused(root: Path) -> None:
    (root / "docs" / "jobs.md").write_text("# Jobs\n\n[gone](gone.md)\n", encoding="utf-8")
    with pytest.raises(SiteError, match=r"docs/jobs\.md links to gone\.md, which does not exist"):
        read(root)


def test_a_page_to_which_the_index_does_not_lead_is_refused(root: Path) -> None:
    with pytest.raises(SiteError, match=r"docs/README\.md has no link to .*decisions\.md"):
        contents(json.loads(description()), root)


def test_a_line_of_the_index_says_what_its_pages_are_for(root: Path) -> None:
    listed = navigation(read(root).pages[INDEX])
    assert listed == {
        "Write": {"jobs.md": "Write jobs; Delete a job", "targets/http.md": "Write jobs"},
        "Change": {"overview.md": "Begin"},
    }


def test_a_page_without_a_title_is_refused() -> None:
    with pytest.raises(SiteError, match="a page has no line that begins with"):
        _ = Page("a page", "words").title


def test_each_call_has_a_section_on_the_page_of_its_resource_and_a_line_on_that_of_all() -> None:
    index = tree().pages["reference.md"].text
    for operation in OPERATIONS:
        text = tree().pages[f"reference/{operation.tag.lower()}.md"].text
        assert text.count(f"`{operation.method} {operation.path}` · `{operation.name}`") == 1
        assert f"| `{operation.method} {operation.path}` |" in index


def test_each_object_is_described_once_with_all_its_fields() -> None:
    schemas = json.loads(description())["components"]["schemas"]
    text = "\n".join(page.text for place, page in tree().pages.items() if place.startswith("reference"))
    described = re.findall(r"^### (\w+)$", text, flags=re.MULTILINE)
    linked = re.findall(r"\[(\w+)\]\(\w+\.md#", text)
    assert sorted(described) == sorted(set(described))
    assert set(linked) <= set(described) <= schemas.keys()
    for name in described:
        (part,) = re.findall(rf"^### {name}\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL)
        (base,) = re.findall(r"It has the fields of \[(\w+)\]", part) or [None]
        fields = set(schemas[name].get("properties", ())) - set(schemas[base]["properties"] if base else ())
        assert {field for field in fields if f"| `{field}`" not in part} == set(), name


def test_sections_are_read_with_their_anchors_and_without_drawings() -> None:
    html = (
        "<p>before</p><section id='a'><h1>Title<a class='headerlink' href='#a'>#</a></h1><p>one</p>"
        "<svg><text>drawn</text></svg><section id='b'><h2><code>Inner</code></h2>two</section>three</section>"
    )
    assert sections(html) == [Section("a", "Title", "onethree"), Section("b", "Inner", "two")]
