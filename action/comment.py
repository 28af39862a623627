"""Comments a plan on a pull request of GitHub, in the place of the comment that it made before.

    python comment.py PLAN TITLE

PULL_REQUEST, TOKEN, SWEEPHAND_URL, GITHUB_REPOSITORY and GITHUB_API_URL are in the environment. Each stack
has a comment of its own.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

#: GitHub takes 65,536 characters.
_LENGTH_MAX: Final = 60_000
_PAGE: Final = 100

#: Who belongs to a repository, in the words of GitHub's API.
_INSIDERS: Final = ("OWNER", "MEMBER", "COLLABORATOR")


def body(plan: str, title: str) -> str:
    """The comment. It begins with a mark by which the next one finds it."""
    shown = (
        plan if len(plan) <= _LENGTH_MAX else plan[:_LENGTH_MAX] + "\n… (the log of the workflow has more)"
    )
    fence = "`" * (1 + max([2, *map(len, re.findall("`+", shown))]))
    return f"{_mark(title)}\n**sweephand apply --dry-run**: {title}\n{fence}\n{shown.rstrip()}\n{fence}\n"


def _mark(title: str) -> str:
    return f"<!-- sweephand apply: {title.replace('--', '- -')} -->"


def _call(method: str, path: str, value: Any = None) -> Any:
    request = Request(  # noqa: S310 - the address is that of the runner
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues/{path}",
        method=method,
        data=None if value is None else json.dumps(value).encode(),
        headers={"authorization": f"Bearer {os.environ['TOKEN']}", "accept": "application/vnd.github+json"},
    )
    with urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
        return json.load(answer)


def _comments(number: str) -> Iterator[Any]:
    page = 1
    while found := _call("GET", f"{number}/comments?per_page={_PAGE}&page={page}"):
        yield from found
        page += 1


def _is_by_outsider(comment: Any) -> bool:
    """Whether an outsider wrote a comment. Its author could later change the plan in it."""
    is_by_bot = (comment["user"] or {}).get("type") == "Bot"
    return not is_by_bot and comment["author_association"] not in _INSIDERS


def main() -> None:
    """Write the comment."""
    plan = Path(sys.argv[1]).read_text("utf-8", errors="replace")
    host = urlsplit(os.environ["SWEEPHAND_URL"]).netloc.rpartition("@")[2]
    title = f"{sys.argv[2].strip()} on {host}"
    number = os.environ["PULL_REQUEST"]
    former = [
        each["id"]
        for each in _comments(number)
        if (each["body"] or "").startswith(_mark(title)) and not _is_by_outsider(each)
    ]
    comment = {"body": body(plan, title)}
    if former:
        _call("PATCH", f"comments/{former[0]}", comment)
    else:
        _call("POST", f"{number}/comments", comment)


if __name__ == "__main__":
    main()
