"""The commands of docs/webhooks.md verify what deliveries carry, and make secrets that can sign."""

import subprocess
from pathlib import Path
from typing import Final

import pytest
from tests.unit.docs.blocks import ROOT, blocks

from sweephand.access.ed25519 import private_key
from sweephand.access.named_secrets import value_violations
from sweephand.delivery.http.request import signatures
from sweephand.model.secret import public_key_of, scheme_of

SECRET: Final = "whsec_c3dlZXBoYW5kIHNpZ25zIGl0cyBkZWxpdmVyaWVz"
PRIVATE: Final = private_key(bytes(range(32)))
BODY: Final = '{"ü":"€"}\n'.encode()


def run(folder: Path, *parts: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the page's blocks of shell commands that contain these parts, one after the other."""
    found = [
        next(each.text for each in blocks(ROOT / "docs" / "webhooks.md", "sh") if part in each.text)
        for part in parts
    ]
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", **variables}
    return subprocess.run(  # noqa: S603 - the page's own commands
        ["/bin/sh", "-e", "-c", "\n".join(found)],
        cwd=folder,
        env=path,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def headers(tmp_path: Path) -> dict[str, str]:
    """The headers of a delivery whose body is in the folder."""
    (tmp_path / "body").write_bytes(BODY)
    return {"ID": "uid-5-0", "TIMESTAMP": "1795262400"}


def test_the_pages_command_prints_the_signature_by_hmac(tmp_path: Path, headers: dict[str, str]) -> None:
    done = run(tmp_path, "> content", "hexkey", SECRET=SECRET, **headers)
    assert done.stdout.strip() == signatures([SECRET], "uid-5-0", 1_795_262_400_000, BODY), done.stderr


def test_the_pages_command_verifies_the_signature_by_ed25519_and_refuses_another_body(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    signature = signatures([PRIVATE], "uid-5-0", 1_795_262_400_000, BODY)
    variables = {**headers, "SIGNATURE": signature, "PUBLIC": public_key_of(PRIVATE)}
    accepted = run(tmp_path, "> content", "pkeyutl", **variables)
    assert accepted.returncode == 0, accepted.stderr
    (tmp_path / "body").write_bytes(BODY + b" ")
    assert run(tmp_path, "> content", "pkeyutl", **variables).returncode != 0


def test_the_pages_command_makes_a_secret_for_hmac(tmp_path: Path) -> None:
    assert scheme_of(run(tmp_path, "openssl rand -base64 32").stdout.strip()) == "v1"


def test_the_pages_commands_make_a_key_for_ed25519(tmp_path: Path) -> None:
    private, public = run(tmp_path, "openssl genpkey").stdout.split()
    assert scheme_of(private) == "v1a"
    assert value_violations(private) == []
    assert public_key_of(private) == public
