"""The files and the address of one local stack. Two stacks on two ports share only the build."""

import os
import secrets
import socket
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Where Python finds what a wheel has.
SOURCES = os.pathsep.join(str(ROOT / each) for each in ("layers/sweephand/python", "client"))
LOCAL = ROOT / ".local"
PORT_DEFAULT = 4700
REGION = "us-east-1"
STACK_NAME = "sweephand"

# The admin key's secret of every local stack, so that the key outlives a stack. Only its owner may read it.
ADMIN_SECRET = LOCAL / "admin-secret"

PYTHON = ROOT / ".venv" / "bin" / "python"
SAM = LOCAL / "venvs" / "sam" / "bin" / "sam"
MINISTACK_PYTHON = LOCAL / "venvs" / "ministack" / "bin" / "python"
MICROBURST = LOCAL / "venvs" / "microburst" / "bin" / "microburst"
# The program that runs ministack.
GUARD = ROOT / "infra" / "local" / "guard.py"
BUILD = LOCAL / "build"


class StackError(Exception):
    """A stack cannot be built, started, deployed or called. The message says why, or what to do."""


class Place:
    """The folder, the files and the address of the stack on one port.

    If it enforces roles, a function can do only what its role allows, as on AWS. That costs a third more for
    every request, so measurements leave it out. `parameters` of the template take the place of those of
    local stacks, each as `Name=value`. The functions call DynamoDB, SQS and Lambda at `functions_call`, if
    that is given: a proxy stands there.
    """

    def __init__(
        self,
        port: int,
        *,
        enforces_roles: bool = True,
        parameters: tuple[str, ...] = (),
        functions_call: str | None = None,
    ) -> None:
        self.port = port
        self.enforces_roles = enforces_roles
        self.parameters = parameters
        self.functions_call = functions_call
        #: The address of the local AWS.
        self.endpoint_url = f"http://127.0.0.1:{port}"
        #: The folder of all files that the stack writes. Each start makes an empty one.
        self.home = LOCAL / str(port)
        #: Names the process that `down` may end. The functions' logs are in its CloudWatch Logs.
        self.pid_file = self.home / "ministack.json"
        #: Names the process of the stack's inbox.
        self.inbox_pid_file = self.home / "inbox.json"
        #: Holds the address of the inbox. It exists as long as the inbox answers.
        self.inbox_file = self.home / "inbox.url"
        #: Holds the digest of the deployed build.
        self.deployed = self.home / "deployed.sha256"
        #: Describes the stack for its callers. It exists as long as the stack answers. On the default port
        #: its name has no port: the documentation reads that file.
        self.stack_file = LOCAL / ("stack.json" if port == PORT_DEFAULT else f"stack-{port}.json")


#: Systems give higher ports to the connections of clients (Linux from 32,768 on). So no client takes a port
#: between its choice and its use.
_PORTS = range(20_000, 32_768)


def free_port(wanted: int | None = None) -> int:
    """That port of 127.0.0.1, or any other one if a program listens on it."""
    port = secrets.choice(_PORTS) if wanted is None else wanted
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return free_port()
    return port


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner may read. FileExistsError if it exists.

    The text is first written under another name, so that no reader sees a part of it.
    """
    descriptor, written = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # its mode is 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        path.hardlink_to(written)
    finally:
        Path(written).unlink()


def environment() -> dict[str, str]:
    """The environment without the variables that lead to an AWS account or to another stack."""
    # ministack would pass PYTHON* variables of a test or a shell on to the functions.
    dropped = ("AWS_", "SAM_", "PYTHON")
    return {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
