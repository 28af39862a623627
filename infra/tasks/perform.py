"""Performs a way of a task: in a shell by the command line, or in Chromium by the console."""

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any, Final

from infra.local.dev import Dev
from infra.local.places import ROOT, SOURCES, StackError, environment
from infra.tasks.scene import Scene
from infra.tasks.steps import Choose, Click, Place, Press, Step, Task, Type, Way
from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, Route, expect

#: The commit that is compared with.
BEFORE: Final = "086fb506"

#: How long a line of a shell may take, and a step of the console. Two busy cores have taken long for either.
_PATIENCE_S: Final = 120
_STEP_MS: Final = 30_000

#: What can be clicked, by its role.
_CLICKED: Final = ("button", "link", "checkbox", "tab", "menuitem")

_WRITE_ASSETS: Final = """
import json
from sweephand.web.console import assets
found = {name: [assets.find(name).text, assets.find(name).content_type] for name in assets.names().values()}
print(json.dumps({"page": assets.page("keys"), "assets": found}))
"""


class NotDoneError(Exception):
    """A way does not do its task. The message says where it ended."""


@dataclass(frozen=True)
class Side:
    """The command line and the console of one commit. `assets` of None are those that the stack serves."""

    sources: str
    assets: Mapping[str, Any] | None = None


#: The command line and the console of these files.
NOW: Final = Side(SOURCES)


@contextmanager
def before() -> Iterator[Side]:
    """The command line and the console of the earlier commit. StackError where git does not have it."""
    with TemporaryDirectory() as folder:
        packed = Path(folder) / "before.tar"
        done = subprocess.run(
            ["git", "archive", "--output", packed, BEFORE, "client", "layers/sweephand"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise StackError(f"git does not have the commit {BEFORE}: {done.stderr.strip()}")
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        sources = os.pathsep.join(f"{folder}/{each}" for each in ("layers/sweephand/python", "client"))
        written = subprocess.run(
            [sys.executable, "-c", _WRITE_ASSETS],
            env=environment() | {"PYTHONPATH": sources},
            capture_output=True,
            text=True,
            check=True,
        )
        yield Side(sources, json.loads(written.stdout))


class Stage:
    """A stack, a browser, and both sides to perform on it: `sides[True]` is that of now."""

    def __init__(
        self, dev: Dev, browser: Browser, sides: Mapping[bool, Side], patience_ms: int = _STEP_MS
    ) -> None:
        self.dev = dev
        self._patience_ms = patience_ms
        self._browser = browser
        self._sides = sides

    def perform(self, task: Task, place: Place, scene: Scene) -> None:
        """Do a task in one way. NotDoneError if it is not done then."""
        where, is_now = place
        act = self._in_shell if where == "commands" else self._in_console
        act(task, task.ways()[place], scene, self._sides[is_now])

    def _in_shell(self, task: Task, way: Way, scene: Scene, side: Side) -> None:
        """Give the lines of a way to a shell, one after the other."""
        with TemporaryDirectory() as folder:
            variables = self._variables(scene, folder)
            program = f'PYTHONPATH="{side.sources}" {sys.executable} -m sweephand_client.commands.main'
            shown = ""
            for line in way.lines:
                done = subprocess.run(
                    ["bash", "-o", "pipefail", "-c", f'sweephand() {{ {program} "$@"; }}\n{line}'],
                    cwd=folder,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=_PATIENCE_S,
                    check=False,
                )
                shown += done.stdout
                if done.returncode:
                    raise NotDoneError(f"{line} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
            _check(task, way, scene, shown.__contains__)

    def _variables(self, scene: Scene, folder: str) -> Mapping[str, str]:
        """The environment of a shell: which stack it calls, and the facts of the scene."""
        return {
            **environment(),
            **scene.facts,
            "SWEEPHAND_URL": self.dev.client.api_url,
            "SWEEPHAND_KEY": str(self.dev.client.api_key),
            "SWEEPHAND_NAMESPACE": scene.namespace,
            "SWEEPHAND_CONFIG": f"{folder}/config",
            "TZ": "UTC",
            "COLUMNS": "200",
        }

    def _in_console(self, task: Task, way: Way, scene: Scene, side: Side) -> None:
        """Make the steps of a way, from the overview of the namespace on."""
        with self._signed_in(side) as page:
            page.goto(f"{self.dev.client.api_url}/console#/{scene.namespace}/overview")
            _settle(page)
            for step in way.steps or ():
                try:
                    _make(page, _filled(step, scene.facts))
                    _settle(page)
                except Error as error:
                    raise NotDoneError(f"{step} cannot be made: {error.message.splitlines()[0]}") from error
            _leave(page)
            _check(task, way, scene, partial(_is_seen, page, self._patience_ms))

    @contextmanager
    def _signed_in(self, side: Side) -> Iterator[Page]:
        """A tab that is signed in, in UTC."""
        context = self._browser.new_context(
            timezone_id="UTC", locale="en-GB", viewport={"width": 1280, "height": 860}
        )
        try:
            context.set_default_timeout(self._patience_ms)
            if side.assets is not None:
                _serve(context, side.assets)
            page = context.new_page()
            key = json.dumps(self.dev.client.api_key)
            page.add_init_script(f'sessionStorage.setItem("sweephand-key", {key})')
            yield page
        finally:
            context.close()


def _check(task: Task, way: Way, scene: Scene, is_shown: Callable[[str], bool]) -> None:
    """NotDoneError if the task is not done: by what was shown, and by what holds."""
    texts = [Template(each).substitute(scene.facts) for each in (*task.shown, *way.shown)]
    for each in texts:
        if not is_shown(each):
            raise NotDoneError(f"{each!r} is not shown")
    if not task.holds(scene):
        raise NotDoneError("what the task is for does not hold")


def _is_seen(page: Page, patience_ms: int, text: str) -> bool:
    try:
        expect(page.get_by_role("main")).to_contain_text(text, timeout=patience_ms, use_inner_text=True)
    except AssertionError:
        return False
    return True


def _serve(context: BrowserContext, assets: Mapping[str, Any]) -> None:
    """Let the browser get the console of another commit. Its calls go to the stack."""

    def answer(route: Route) -> None:
        name = route.request.url.partition("#")[0].rpartition("/")[2]
        if name in assets["assets"]:
            text, content_type = assets["assets"][name]
            route.fulfill(body=text, content_type=content_type)
        else:
            route.fulfill(body=assets["page"], content_type="text/html; charset=utf-8")

    context.route("**/console", answer)
    context.route("**/console/**", answer)


def _settle(page: Page) -> None:
    """Wait until the screen has loaded. On a busy machine that takes longer than a click may."""
    page.wait_for_selector("main h1, dialog[open]", timeout=_STEP_MS)
    page.wait_for_selector(".loading", state="detached", timeout=_STEP_MS)


def _leave(page: Page) -> None:
    """Leave the field in which something was typed: it counts then."""
    page.evaluate("document.activeElement.matches('input, textarea') && document.activeElement.blur()")
    _settle(page)


def _make(page: Page, step: Step) -> None:
    """Make one step. What a dialog covers is not clicked."""
    if not isinstance(step, Press):
        _leave(page)
    is_asked = page.locator("dialog[open]").count()
    within: Page | Locator = page.locator("dialog[open]") if is_asked else page
    match step:
        case Click(name):
            _clicked(within, name).click()
        case Type(label, text):
            within.get_by_label(label, exact=True).first.fill(text)
        case Choose(label, option):
            within.get_by_role("combobox", name=label, exact=True).first.select_option(option)
        case Press(key):
            page.keyboard.press(key)


def _clicked(within: Page | Locator, name: str) -> Locator:
    """What has this name and can be clicked."""
    found = within.locator("summary").get_by_text(name, exact=True)
    for role in _CLICKED:
        found = found.or_(within.get_by_role(role, name=name, exact=True))
    return found.first


def _filled(step: Step, facts: Mapping[str, str]) -> Step:
    """The step with the values of its variables."""
    return type(step)(*(Template(each).safe_substitute(facts) for each in step))
