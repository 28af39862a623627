"""The action for GitHub: its steps run in bash, against a stack and an API of comments on loopback."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import pytest
import yaml
from infra.local.places import ROOT
from tests.unit.client.conftest import CommandLine, Ran
from tests.unit.docs.blocks import blocks

ACTION: Final = yaml.safe_load((ROOT / "action" / "action.yml").read_text("utf-8"))
JOBS: Final = 'jobs: [{name: a, schedule: "@daily", target: {type: http, url: "https://x.example"}}]'

#: The authors of comments: a workflow with its token, and a visitor who may only read the repository.
OWN: Final = {"user": {"login": "github-actions[bot]", "type": "Bot"}, "author_association": "NONE"}
OUTSIDE: Final = {"user": {"login": "visitor", "type": "User"}, "author_association": "NONE"}

#: Stands for the Python of the runner: it makes an environment that records what pip installs.
PYTHON: Final = f"""#!/bin/bash
mkdir -p "$3/bin"
printf '#!/bin/bash\\necho "$@" >> "{{installed}}"\\n' > "$3/bin/pip"
printf '#!/bin/bash\\nexec "{sys.executable}" "$@"\\n' > "$3/bin/python"
printf '#!/bin/bash\\nexec "{sys.executable}" -m sweephand_client.commands.main "$@"\\n' > "$3/bin/sweephand"
chmod +x "$3"/bin/*
"""


class GitHub:
    """The comments of pull request 7. While it is `closed`, the token may not write."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.closed = False
        self.url = ""

    def answer(self, method: str, path: str, token: str, value: Any) -> tuple[int, Any]:
        assert token == "Bearer gh-token"
        if method == "GET":
            page = int(re.findall("&page=([0-9]+)$", path)[0])
            return 200, self.comments[100 * page - 100 : 100 * page]
        if self.closed:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "POST":
            assert path == "/repos/acme/shop/issues/7/comments"
            self.comments.append({"id": 1_000 + len(self.comments), **OWN, **value})
            return 201, self.comments[-1]
        (comment,) = (each for each in self.comments if path.endswith(f"/issues/comments/{each['id']}"))
        comment |= value
        return 200, comment


@pytest.fixture
def github() -> Iterator[GitHub]:
    found = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = self.rfile.read(int(self.headers.get("content-length", 0)))
            value = json.loads(text) if text else None
            status, answer = found.answer(self.command, self.path, self.headers["authorization"], value)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        do_POST = do_PATCH = do_GET  # noqa: N815 - http.server names them

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


class Runner:
    """Runs the steps of the action, as a runner of GitHub does."""

    def __init__(self, sweephand: CommandLine, github: GitHub) -> None:
        self.sweephand, self.github, self.home = sweephand, github, sweephand.home
        self.installed = self.home / "installed"
        (self.home / "python").write_text(PYTHON.format(installed=self.installed), encoding="utf-8")
        (self.home / "python").chmod(0o755)

    def run(self, *, commit: str = "", pull_request: str = "", **given: str) -> Ran:
        """The steps with these inputs. The last step that ran says what came out."""
        values = {
            "github.token": "gh-token",
            "github.event.head_commit.message": commit,
            "github.event.pull_request.number": pull_request,
            "steps.python.outputs.python-path": str(self.home / "python"),
        }
        given = {"url": self.sweephand.server.url, "key": "sh_admin", "namespace": "ns"} | {
            name.replace("_", "-"): each for name, each in given.items()
        }
        assert given.keys() <= ACTION["inputs"].keys()
        for name, meaning in ACTION["inputs"].items():
            assert name in given or "default" in meaning, f"{name} is required"
            values[f"inputs.{name}"] = given.get(name, self._filled(meaning.get("default", ""), values))
        ran = Ran(0, "", "")
        for step in ACTION["runs"]["steps"]:
            if "run" in step and ran.code == 0:
                ran = self._step(
                    step, {name: self._filled(each, values) for name, each in step["env"].items()}
                )
        return ran

    def _filled(self, text: str, values: Mapping[str, str]) -> str:
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: values[found[1]], text)

    def _step(self, step: Mapping[str, Any], environment: Mapping[str, str]) -> Ran:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an expression in a script would run what its value says"
        done = subprocess.run(  # noqa: S603 - a step of the action
            ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env={
                "PATH": "/usr/bin:/bin",
                "LANG": "C",
                "PYTHONPATH": f"{ROOT}/client:{ROOT}/layers/sweephand/python",
                "RUNNER_TEMP": str(self.home),
                "GITHUB_ACTION_PATH": str(ROOT / "action"),
                "GITHUB_API_URL": self.github.url,
                "GITHUB_REPOSITORY": "acme/shop",
                **environment,
            },
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def names(self) -> list[str]:
        return [each["name"] for each in self.sweephand.ok("job", "list", "--json").json]


@pytest.fixture
def runner(sweephand: CommandLine, github: GitHub) -> Runner:
    return Runner(sweephand, github)


def test_a_push_applies_the_file_and_its_subject_is_the_reason(runner: Runner) -> None:
    file = runner.sweephand.file("my jobs.yaml", JOBS)
    ran = runner.run(file=file, commit="Add job a: $(touch x) “now”\n\nBecause.")
    assert (ran.code, ran.out) == (0, "a created\n1 created, 0 unchanged\n"), ran.err
    (change,) = runner.sweephand.ok("job", "changes", "a", "--json").json
    assert change["reason"] == "Add job a: $(touch x) “now”"
    assert not (runner.home / "x").exists()
    assert runner.github.comments == []
    assert runner.installed.read_text("utf-8") == f"install --quiet {ROOT}/action/..\n"


def test_a_push_that_is_refused_fails_the_workflow(runner: Runner) -> None:
    file = runner.sweephand.file("jobs.yaml", JOBS.replace("@daily", "@never"))
    ran = runner.run(file=file, commit="x" * 600)
    assert ran.code == 2
    assert "a refused: " in ran.out


def test_a_long_subject_is_cut_between_characters(runner: Runner) -> None:
    file = runner.sweephand.file("jobs.yaml", JOBS)
    ran = runner.run(file=file, commit="x" + 300 * "½é")
    assert ran.code == 0, ran.err
    (change,) = runner.sweephand.ok("job", "changes", "a", "--json").json
    assert change["reason"] == ("x" + 300 * "½é")[:500]


def test_a_pull_request_has_one_comment_with_the_plan_as_it_is_now(runner: Runner) -> None:
    runner.github.comments = [{"id": number, "body": None, **OWN} for number in range(150)]
    file = runner.sweephand.file("jobs.yaml", JOBS.replace("@daily", "```"))
    refused = runner.run(file=file, dry_run="true", pull_request="7")
    assert refused.code == 2
    (comment,) = runner.github.comments[150:]
    assert "a refused: 1 field cannot be accepted.\n  line 1, /jobs/0/schedule: " in comment["body"]
    assert "\n````\n+ a\n" in comment["body"]
    runner.sweephand.file("jobs.yaml", JOBS)
    planned = runner.run(file=file, dry_run="true", pull_request="7")
    assert planned.code == 0, planned.err
    (comment,) = runner.github.comments[150:]
    assert comment["body"].endswith("1 to create, 0 unchanged\n```\n")
    assert planned.out in comment["body"]
    assert runner.names() == []

    other = runner.sweephand.file("other.yaml", JOBS)
    runner.run(file=other, dry_run="true", pull_request="7")
    assert len(runner.github.comments) == 152


def test_a_plan_is_not_written_into_a_comment_that_an_outsider_could_change(runner: Runner) -> None:
    file = runner.sweephand.file("jobs.yaml", JOBS)
    runner.run(file=file, dry_run="true", pull_request="7")
    (comment,) = runner.github.comments
    runner.github.comments = [{**comment, "id": 1, **OUTSIDE}, {**comment, "id": 2, **OUTSIDE, "user": None}]
    runner.run(file=file, dry_run="true", pull_request="7")
    assert [each["id"] for each in runner.github.comments[2:]] == [1_002]
    member = {"user": {"login": "member", "type": "User"}, "author_association": "MEMBER"}
    runner.github.comments = [{**comment, "id": 3, "body": comment["body"] + "old", **member}]
    runner.run(file=file, dry_run="true", pull_request="7")
    assert runner.github.comments == [{**comment, "id": 3, **member}]


def test_each_stack_has_a_comment_of_its_own(runner: Runner) -> None:
    file, url = runner.sweephand.file("jobs.yaml", JOBS), runner.sweephand.server.url
    hosts = url.partition("//")[2], url.partition("//")[2].replace("127.0.0.1", "localhost")
    for host in (*hosts, *hosts):
        ran = runner.run(file=file, dry_run="true", pull_request="7", url=f"http://{host}/")
        assert ran.code == 0, ran.err
    titles = [each["body"].split("\n")[1] for each in runner.github.comments]
    assert titles == [f"**sweephand apply --dry-run**: {file} ns on {host}" for host in hosts]


def test_a_plan_that_is_too_long_for_a_comment_is_cut(runner: Runner) -> None:
    jobs = [
        JOBS.replace("name: a", f"name: {letter * 100}-{number}") for letter in "ab" for number in range(400)
    ]
    text = "jobs:\n" + "\n".join(f"  - {each.removeprefix('jobs: [').removesuffix(']')}" for each in jobs)
    ran = runner.run(file=runner.sweephand.file("jobs.yaml", text), dry_run="true", pull_request="7")
    assert ran.code == 0, ran.err
    (comment,) = runner.github.comments
    assert len(comment["body"]) < 65_536 < len(ran.out)
    assert "the log of the workflow has more" in comment["body"]


def test_a_plan_that_cannot_be_written_as_a_comment_is_in_the_log(runner: Runner) -> None:
    runner.github.closed = True
    file = runner.sweephand.file("jobs.yaml", JOBS)
    ran = runner.run(file=file, dry_run="true", pull_request="7")
    assert ran.code == 0
    assert "1 to create, 0 unchanged\n::warning::" in ran.out
    assert runner.run(file=file, dry_run="true").out.endswith("1 to create, 0 unchanged\n")


def test_prune_deletes_what_the_file_owns_and_does_not_have(runner: Runner) -> None:
    file = runner.sweephand.file("jobs.yaml", "prefix: a\n" + JOBS)
    runner.run(file=file)
    runner.sweephand.file("jobs.yaml", "prefix: a\njobs: []")
    assert runner.run(file=file).code == 0
    assert runner.names() == ["a"]
    assert runner.run(file=file, prune="true", commit="Remove a").code == 0
    assert runner.names() == []


def test_an_option_that_is_neither_true_nor_false_writes_nothing(runner: Runner) -> None:
    ran = runner.run(file=runner.sweephand.file("jobs.yaml", JOBS), dry_run="yes")
    assert (ran.code, ran.out) == (2, "::error::dry-run and prune are true or false.\n")
    assert runner.names() == []


def test_nothing_is_installed_that_its_registry_could_give_to_somebody_else() -> None:
    steps = [each for each in ACTION["runs"]["steps"] if "pip" in each.get("run", "")]
    assert [re.findall(r"install --quiet (.+)\n", each["run"]) for each in steps] == [
        ['"$GITHUB_ACTION_PATH/.."']
    ]
    for page in sorted((ROOT / "docs").glob("*.md")):
        assert re.findall(r"pip install ['\"]?sweephand", page.read_text("utf-8")) == [], page.name


def test_a_release_moves_the_tag_by_which_the_page_names_the_action() -> None:
    used = re.findall(r"OWNER/sweephand/action@(\S+)", (ROOT / "docs" / "jobs-as-code.md").read_text("utf-8"))
    moved = re.findall("Move the tag `(.+?)`", (ROOT / "docs" / "releasing.md").read_text("utf-8"))
    assert (len(used), moved) == (1, used)


def test_the_page_gives_the_action_each_input_that_it_requires() -> None:
    workflow = yaml.safe_load(next(blocks(ROOT / "docs" / "jobs-as-code.md", "yaml")).text)
    *_, step = workflow["jobs"]["apply"]["steps"]
    assert step["uses"].removeprefix("OWNER/sweephand/").partition("@")[0] == "action"
    required = {name for name, each in ACTION["inputs"].items() if each.get("required")}
    assert required <= step["with"].keys() <= ACTION["inputs"].keys()
    assert workflow["permissions"]["pull-requests"] == "write"
