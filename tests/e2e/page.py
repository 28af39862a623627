"""The commands of a page of the documentation, run by a shell on a local stack."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.local.client import Client
from infra.local.places import REGION, ROOT
from tests.e2e.inboxes import Served, served
from tests.e2e.schedule import Schedule

#: How long the commands of one page may take.
_PATIENCE_S: Final = 180

#: How many pages run at once. More of them start so many cold functions that two cores answer none in time.
_AT_ONCE: Final = 2

#: `aws` of the pages, for machines that have no AWS CLI.
_AWS: Final = Path(__file__).parent / "aws.py"


@dataclass
class Page:
    """A page whose commands have run: what they printed, and the jobs and deliveries that they made."""

    printed: str
    schedule: Schedule
    inbox: Served

    def bodies(self, path: str, count: int) -> Sequence[bytes]:
        """The bodies of the deliveries to a path of the inbox, as soon as there are so many."""
        return [each.body for each in self.inbox.wait(path, count)]


class PageRunner:
    """Runs pages, each in a namespace and with an inbox of its own, in threads of their own."""

    def __init__(self, stack: Mapping[str, Any], client: Client, home: Path) -> None:
        self._stack = stack
        self._client = client
        self._home = home
        self._running: dict[str, tuple[threading.Thread, dict[str, Any]]] = {}
        self._inboxes = ExitStack()
        self._places = threading.Semaphore(_AT_ONCE)

    def begin(self, name: str) -> None:
        """Begin to run the commands of `docs/{name}.md`."""
        found: dict[str, Any] = {}
        thread = threading.Thread(target=self._run, args=(name, found))
        self._running[name] = thread, found
        thread.start()

    def page(self, name: str) -> Page:
        """The page after all of its commands have succeeded."""
        thread, found = self._running[name]
        thread.join()
        assert "page" in found, found.get("failure")
        page: Page = found["page"]
        return page

    def end(self) -> None:
        """End all inboxes."""
        for thread, _ in self._running.values():
            thread.join()
        self._inboxes.close()

    def _run(self, name: str, found: dict[str, Any]) -> None:
        try:
            with self._places:
                self._run_page(name, found)
        except Exception as error:  # noqa: BLE001 - the test that asks for the page shows it
            found["failure"] = repr(error)

    def _run_page(self, name: str, found: dict[str, Any]) -> None:
        namespace = f"page-{name.replace('/', '-')}-{os.getpid()}"
        secrets = self._client.signing_secrets(namespace)
        inbox = self._inboxes.enter_context(served(secrets))
        text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
        script = "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        assert "namespaces/demo" in script, "no command is about a job"
        # A stack that is up already may have the resources of an earlier run of the page.
        for beginning in ("my-", "sweephand-"):
            script = script.replace(f" {beginning}", f" {beginning}{os.getpid()}-")
        home = self._home / namespace
        home.mkdir()
        done = subprocess.run(
            ["/bin/bash", "-e"],
            input=_PRELUDE + script.replace("namespaces/demo", f"namespaces/{namespace}"),
            cwd=home,
            env=self._variables(inbox.url),
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found["page"] = Page(done.stdout, Schedule(self._client, namespace), inbox)

    def _variables(self, inbox_url: str) -> dict[str, str]:
        return {
            **os.environ,
            "API": self._stack["apiUrl"],
            "KEY": self._stack["apiKey"],
            "INBOX": inbox_url,
            "AWS_PYTHON": sys.executable,
            "AWS_SCRIPT": str(_AWS),
            "AWS_ENDPOINT_URL": self._stack["awsEndpointUrl"],
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": REGION,
        }


#: A refusal of the API fails the script, as a refusal of AWS does.
_PRELUDE: Final = """\
curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }
aws() { "$AWS_PYTHON" "$AWS_SCRIPT" "$@"; }
"""
