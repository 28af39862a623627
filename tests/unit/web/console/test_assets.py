"""The files of the console: their names, their size, and what a browser is allowed to do with them."""

import gzip
import json
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
from tests.fakes.http_events import Client

from sweephand.access.authentication import Auth
from sweephand.web.routes import console as assets

ROOT: Final = Path(__file__).parents[4]
CONSOLE: Final = ROOT / "layers/sweephand/python/sweephand/web/console"
LOCK: Final = json.loads((ROOT / "requirements/browser.json").read_text("utf-8"))

#: What the page loads, as it is sent. A phone in a train loads this in a second.
BYTES_MAX: Final = 77_400

#: What a screen loads by itself when it needs it. The page does not name it.
LAZY: Final = {"uplot.js", "editor.js"}

#: Names under which a test serves what others wrote.
SERVED: Final = {name: name for name in ("preact.js", "uplot.js", "editor.js")}

#: All modules as they are served.
JOINED: Final = {
    "app.js": assets.joined("app.js", SERVED),
    "editor.js": assets.joined_later("editor.js", SERVED),
}


def page() -> str:
    return Client().send("GET", "/console", caller=None).text or ""


def test_the_page_loads_its_files_by_relative_addresses_with_their_hashes() -> None:
    loaded = re.findall(r'(?:href|src)="([^"]+)"', page())
    assert {each for each in loaded if each.startswith("console/")} == {
        f"console/{name}" for plain, name in assets.names().items() if plain not in LAZY
    }
    assert all(not each.startswith(("/", "http")) for each in loaded)


def test_what_the_page_does_not_name_is_loaded_by_the_script_under_its_present_name() -> None:
    script = assets.find(assets.names()["app.js"])
    assert script is not None
    assert set(re.findall(r'import\("\./([^"]+)"\)', script.text)) == {assets.names()[each] for each in LAZY}


def test_a_file_is_kept_for_ever_and_the_page_is_not(client: Client) -> None:
    assert client.send("GET", "/console", caller=None).headers["cache-control"] == "no-cache"
    for name in assets.names().values():
        kept = client.send("GET", f"/console/{name}", caller=None).headers["cache-control"]
        assert kept == "public, max-age=31536000, immutable"


def test_the_name_of_a_file_is_the_hash_of_what_is_in_it() -> None:
    for name in assets.names().values():
        content = Client().send("GET", f"/console/{name}", caller=None).content
        assert sha256(content).hexdigest().startswith(name.split(".")[1])


def test_a_file_is_compressed_for_whoever_accepts_that() -> None:
    url = f"/console/{assets.names()['app.js']}"
    plain = Client().send("GET", url, caller=None, headers={"accept-encoding": "identity"})
    packed = Client().send("GET", url, caller=None, headers={"accept-encoding": "br, gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"


def test_a_file_of_another_version_is_not_found() -> None:
    answer = Client().send("GET", "/console/app.000000000000.js", caller=None)
    assert (answer.status, answer.json["detail"]) == (
        404,
        "This version of the console has no such file. Load /console again.",
    )


def test_what_the_page_loads_is_small() -> None:
    files = [assets.find(name) for plain, name in assets.names().items() if plain not in LAZY]
    size = sum(len(each.compressed) for each in files if each) + len(gzip.compress(page().encode()))
    assert size < BYTES_MAX, f"{size:,} bytes"


def test_the_page_may_load_its_own_files_call_its_own_api_and_nothing_else() -> None:
    answer = Client().send("GET", "/console", caller=None)
    policy = dict(each.strip().split(" ", 1) for each in answer.headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert not re.findall(r"<script(?![^>]*src=)|<style| style=| on[a-z]+=", page())


@pytest.mark.parametrize("mode", [Auth(), Auth("iam"), Auth("jwt", "ns", "role")])
def test_the_page_says_how_callers_of_the_stack_prove_who_they_are(mode: Auth) -> None:
    text = Client(auth=mode).send("GET", "/console", caller=None).text or ""
    assert f'<meta name="sweephand-auth" content="{mode.mode}">' in text


@pytest.mark.parametrize("name", LOCK)
def test_what_others_wrote_is_as_it_was_fetched(name: str) -> None:
    assert sha256((ROOT / LOCK[name]["vendored"]).read_bytes()).hexdigest() == LOCK[name]["sha256"]


def test_what_others_wrote_is_served_whole() -> None:
    for each in LOCK.values():
        served = assets.find(assets.names()[Path(each["vendored"]).name])
        assert served is not None
        written = (ROOT / each["vendored"]).read_text("utf-8")
        assert served.text.removesuffix("\nexport default uPlot;\n") == written


def test_every_file_that_others_wrote_has_a_version_a_hash_and_a_licence() -> None:
    locked = {ROOT / each["vendored"] for each in LOCK.values()}
    assert locked == set((CONSOLE / "vendor").iterdir())
    assert all(each["licence"] and each["integrity"].startswith("sha512-") for each in LOCK.values())


def test_every_module_is_served() -> None:
    served = "".join(JOINED.values())
    for module in CONSOLE.glob("*.js"):
        first = re.search(
            r"^(?:export )?((?:async )?(?:function|const|class) \w+)", module.read_text("utf-8"), re.MULTILINE
        )
        assert first is not None
        assert f"\n{first[1]}" in served, f"{module.name} is imported by no other module"


def test_what_is_loaded_later_gets_what_it_shares_from_the_page() -> None:
    assert 'import("./editor.js").then((made) => made.default({ ' in JOINED["app.js"]
    given = re.findall(r"made\.default\(\{ (.*?) \}\)", JOINED["app.js"])
    assert re.findall(r"^export default \(\{ (.*?) \}\) => \{$", JOINED["editor.js"], re.MULTILINE) == given
    assert JOINED["editor.js"].endswith("return { Editor };\n};\n")
    shared = [name for name in given[0].split(", ") if f"function {name}(" in JOINED["editor.js"]]
    assert shared == [], "the page has these, too"


def test_a_browser_gets_the_code_without_its_comments_and_its_indentation() -> None:
    modules = "".join(each.read_text("utf-8") for each in CONSOLE.glob("*.js"))
    left_out = ("//", "/*", "*", "import ")
    code = [line for line in modules.splitlines() if not line.lstrip().startswith(left_out)]
    served = "".join(JOINED.values())
    assert not re.findall(r"^\s*(?://|/\*|\*/)|^[ \t]", served, re.MULTILINE)
    loads = re.compile(r"import\(.*")
    expected = {loads.sub("", line.strip().removeprefix("export ")) for line in code}
    assert expected - {loads.sub("", line) for line in served.splitlines()} == set()


@pytest.mark.parametrize("name", [*JOINED, *(each.name for each in CONSOLE.glob("*.js"))])
def test_a_module_and_all_modules_as_one_are_valid(name: str) -> None:
    """Node finds a syntax error, and a name that two modules declare once they are one."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node, which checks the console's modules, is not installed")
    text = JOINED.get(name) or (CONSOLE / name).read_text("utf-8")
    checked = subprocess.run(  # noqa: S603 - our own modules
        [node, "--input-type=module", "--check"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert checked.returncode == 0, checked.stderr


def test_each_part_of_the_style_sheet_holds_at_every_width() -> None:
    """A part begins with a comment. A brace that is missing before it would put it into a rule for phones."""
    depth = 0
    for line in (CONSOLE / "style.css").read_text("utf-8").splitlines():
        assert not (line.startswith("/*") and depth), line
        depth += line.count("{") - line.count("}")
    assert depth == 0


def test_no_module_turns_a_text_into_html() -> None:
    for module in CONSOLE.glob("*.js"):
        text = module.read_text("utf-8")
        found = re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text
        )
        assert not found, module.name
