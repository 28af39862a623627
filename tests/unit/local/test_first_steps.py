"""The lines that `make up` prints at its end can be pasted into a shell."""

import json
import subprocess

from infra.local.__main__ import first_steps

SAID = first_steps({"apiUrl": "http://api", "apiKey": "sh_admin_k"}, "http://inbox", ended_by="make down")

EXPORTS = [line for line in SAID.splitlines() if line.startswith("export ")]


def test_make_up_prints_exports_of_the_address_the_key_and_the_inbox() -> None:
    assert EXPORTS == ["export API=http://api", "export KEY=sh_admin_k", "export INBOX=http://inbox"]


def test_the_printed_curl_command_makes_a_job_whose_target_is_the_inbox() -> None:
    call = SAID[SAID.index("curl -X PUT") : SAID.index("curl $INBOX/next")]
    # A function of that name stands in for curl: it prints its arguments, a zero byte after each.
    script = "\n".join([*EXPORTS, "curl() { printf '%s\\0' \"$@\"; }", call])
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)  # noqa: S603, S607 - our own text
    *words, body = done.stdout.removesuffix("\0").split("\0")
    assert "http://api/v1/namespaces/demo/jobs/hello" in words
    assert "Authorization: Bearer sh_admin_k" in words
    target = {"type": "http", "url": "http://inbox/hello"}
    assert json.loads(body) == {"dueTime": "5s", "data": {"hello": "world"}, "target": target}
