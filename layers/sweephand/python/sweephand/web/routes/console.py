"""The files of the console as a browser gets them: joined, and named by their hash.

The modules of the console are plain ES modules, each in a file of its own. They are served as one module: an
API function answers one request at a time, and a page that loads twenty files would take twenty of them from
the deliveries. Nothing but imports, exports, comments and indentation changes, so no user needs Node or a
bundler. Therefore no two modules declare the same name, and none imports by another name. What others wrote
stays in files of its own. The page loads preact.js with its modules. It loads uplot.js once a screen draws a
chart, and editor.js, a sixth of all modules, once somebody writes a job.
"""

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Final

from sweephand.base.errors import NotFoundError
from sweephand.web.http.operation import NoQuery, Operation, Reply, Request, Returns, Services

_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./([\w/]+\.js)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)

_LAZY_IMPORT: Final = re.compile(r'import\("\./(?:vendor/)?(\w+\.js)"\)')

#: Comments that have lines of their own, and indentation. They are a sixth of what a browser would load.
_FOR_READERS: Final = re.compile(r"^[ \t]*(?:(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)\n)?", re.MULTILINE)

#: What others wrote, each with what is served behind it. uPlot comes as a script, which exports nothing.
_VENDORED: Final = {"preact.js": "", "uplot.js": "\nexport default uPlot;\n"}

#: The entries of modules that are joined apart from those of the page, and loaded when a screen needs them.
_LATER: Final = ("editor.js",)

#: So many digits of a hash tell all versions of a file apart.
_DIGITS: Final = 12

#: Trusted Types without a policy: no script of the page can turn a text into HTML or into a script.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as a browser gets it."""

    text: str
    content_type: str
    compressed: bytes


def page(auth_mode: str) -> str:
    """The HTML of the console, for a stack whose callers prove who they are in this mode."""
    text = _read("page.html").replace("{auth}", auth_mode)
    for plain, named in names().items():
        text = text.replace(f"{{{plain}}}", named)
    return text


def find(name: str) -> Asset | None:
    """The asset that is served under this name. None if there is none, as after an update."""
    return _assets().get(name)


@cache
def names() -> Mapping[str, str]:
    """The name of each asset, with its hash, by its plain name."""
    return {re.sub(r"\.[0-9a-f]+\.", ".", name): name for name in _assets()}


@cache
def _assets() -> Mapping[str, Asset]:
    vendored = {plain: _read(f"vendor/{plain}") + behind for plain, behind in _VENDORED.items()}
    served = {plain: _named(plain, text) for plain, text in vendored.items()}
    later = {entry: joined_later(entry, served) for entry in _LATER}
    served |= {plain: _named(plain, text) for plain, text in later.items()}
    style = _FOR_READERS.sub("", _read("style.css"))
    texts = {**vendored, **later, "style.css": style, "app.js": joined("app.js", served)}
    found = {_named(plain, text): text for plain, text in texts.items()}
    return {
        name: Asset(text, _content_type(name), gzip.compress(text.encode(), mtime=0))
        for name, text in found.items()
    }


def joined(entry: str, served: Mapping[str, str]) -> str:
    """The module `entry` and all modules that it imports, as one module.

    A module comes after those that it imports. All share one scope, so no two may declare the same name.
    `served` has the names under which other files are served.
    """
    modules = _reached(entry)

    def load(found: re.Match[str]) -> str:
        given = f".then((made) => made.default({{ {_given(found[1])} }}))" if found[1] in _LATER else ""
        return f'import("./{served[found[1]]}"){given}'

    return _LAZY_IMPORT.sub(load, _preact(modules, served) + _bodies(modules))


def joined_later(entry: str, served: Mapping[str, str]) -> str:
    """The module `entry` and what the page lacks of its imports, as a module that exports one function.

    Its argument has by name what these modules import of the page's, so both have the same. It returns what
    `entry` exports. It does not name the page's module, which names it by its hash.
    """
    modules = _beyond_page(entry)
    exported = ", ".join(_EXPORT.findall(modules[entry]))
    return (
        f"{_preact(modules, served)}export default ({{ {_given(entry)} }}) => {{\n"
        f"{_bodies(modules)}return {{ {exported} }};\n}};\n"
    )


@cache
def _reached(entry: str) -> Mapping[str, str]:
    """The texts of a module and of all that it imports, each after those that it imports."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        text = _read(name)
        found[name] = ""  # two modules may import each other: what they declare is functions
        for _, source in _IMPORT.findall(text):
            if not source.startswith("vendor/") and source not in found:
                add(source)
        del found[name]
        found[name] = text

    add(entry)
    return found


def _beyond_page(entry: str) -> dict[str, str]:
    page_has = _reached("app.js")
    return {name: text for name, text in _reached(entry).items() if name not in page_has}


def _given(entry: str) -> str:
    """What the modules of `entry` import of those of the page."""
    modules = _beyond_page(entry)
    return _imported(modules, lambda source: not source.startswith("vendor/") and source not in modules)


def _preact(modules: Mapping[str, str], served: Mapping[str, str]) -> str:
    names = _imported(modules, lambda source: source == "vendor/preact.js")
    return f'import {{ {names} }} from "./{served["preact.js"]}";\n'


def _imported(modules: Mapping[str, str], is_source: Callable[[str], bool]) -> str:
    """The names that modules import from such sources, as a list in JavaScript."""
    lists = [
        names for text in modules.values() for names, source in _IMPORT.findall(text) if is_source(source)
    ]
    return ", ".join(sorted({name.strip() for names in lists for name in names.split(",") if name.strip()}))


def _bodies(modules: Mapping[str, str]) -> str:
    return "".join(_FOR_READERS.sub("", _EXPORT.sub("", _IMPORT.sub("", text))) for text in modules.values())


def _named(plain: str, text: str) -> str:
    stem, _, kind = plain.partition(".")
    return f"{stem}.{sha256(text.encode()).hexdigest()[:_DIGITS]}.{kind}"


def _content_type(name: str) -> str:
    kind = "javascript" if name.endswith(".js") else "css"
    return f"text/{kind}; charset=utf-8"


def _read(name: str) -> str:
    return files("sweephand.web").joinpath("console", *name.split("/")).read_text("utf-8")


#: A year. The name of an asset changes with what is in it.
_FOR_EVER: Final = "public, max-age=31536000, immutable"


@partial(
    Operation,
    method="GET",
    path="/console",
    tag="Service",
    access="open",
    returns={200: Returns("The page", str, content_type="text/html")},
)
def show_console(services: Services, _: Request[NoQuery, None]) -> Reply:
    """Show the console.

    A page for operators. It takes a key, and shows and does what the key allows.
    """
    headers = {
        "content-security-policy": POLICY,
        "cache-control": "no-cache",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
    return Reply(200, page(services.auth.mode), headers, content_type="text/html; charset=utf-8")


@partial(
    Operation,
    method="GET",
    path="/console/{asset}",
    tag="Service",
    access="open",
    returns={200: Returns("The file: a style sheet or a script", str, content_type="text/*")},
    problems=(404,),
)
def show_console_asset(_: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a file of the console.

    The names of the files are in the page. A name changes with what is in the file, so the file can be kept
    for ever.
    """
    found = find(request.path["asset"])
    if found is None:
        raise NotFoundError("This version of the console has no such file. Load /console again.")
    headers = {"cache-control": _FOR_EVER, "vary": "accept-encoding", "x-content-type-options": "nosniff"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Reply(200, found.text, headers, content_type=found.content_type)
    return Reply(
        200, found.compressed, headers | {"content-encoding": "gzip"}, content_type=found.content_type
    )
