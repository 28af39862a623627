"""Where everything of one local stack lies; two stacks on two ports share nothing but the build."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCAL = ROOT / ".local"
PORT_DEFAULT = 4700
REGION = "us-east-1"
STACK_NAME = "sweephand"
# The first part of the local stack's bucket for code; samconfig.toml names it too.
ARTIFACTS_BUCKET = "sweephand-artifacts"

# The secret of every local stack's admin key, so that the key outlives a stack. Its owner alone may read it.
ADMIN_SECRET = LOCAL / "admin-secret"

PYTHON = ROOT / ".venv" / "bin" / "python"
SAM = LOCAL / "venvs" / "sam" / "bin" / "sam"
MINISTACK = LOCAL / "venvs" / "ministack" / "bin" / "ministack"
BUILD = LOCAL / "build"


@dataclass(frozen=True)
class Place:
    """The folder, the files and the address of the stack on one port.

    A stack that enforces its roles lets a function do what its role allows and no more, as AWS does. It
    costs a third more for every request, and is for measurements to leave out.
    """

    port: int
    enforces_roles: bool = True

    @property
    def home(self) -> Path:
        """Holds all that the stack writes; made anew at every start."""
        return LOCAL / str(self.port)

    @property
    def endpoint_url(self) -> str:
        """Where the local AWS answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid_file(self) -> Path:
        """Says which process is ours to end."""
        return self.home / "ministack.json"

    @property
    def log(self) -> Path:
        """What the local AWS prints; the functions' logs are in its CloudWatch Logs."""
        return self.home / "ministack.log"

    @property
    def inbox_pid_file(self) -> Path:
        """Says which process is the stack's inbox."""
        return self.home / "inbox.json"

    @property
    def inbox_log(self) -> Path:
        """What the inbox prints."""
        return self.home / "inbox.log"

    @property
    def inbox_file(self) -> Path:
        """Holds the address of the inbox; it exists as long as the inbox answers."""
        return self.home / "inbox.url"

    @property
    def deployed(self) -> Path:
        """Holds the digest of what is deployed."""
        return self.home / "deployed.sha256"

    @property
    def stack_file(self) -> Path:
        """Read by whoever wants to call this stack; it exists as long as the stack answers.

        The one on the default port needs no port in its name: the documentation reads that file.
        """
        return LOCAL / ("stack.json" if self.port == PORT_DEFAULT else f"stack-{self.port}.json")


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment() -> dict[str, str]:
    """A developer's environment less what would lead to an AWS account, or into another stack."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SAM_"))}
    # A test's or a shell's PYTHON* variables would reach the functions through ministack.
    return {name: value for name, value in kept.items() if not name.startswith("PYTHON")}


def aws_environment(place: Place) -> dict[str, str]:
    """`environment()` with what an AWS client needs to reach this stack, and nothing else."""
    return environment() | {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": place.endpoint_url,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "SAM_CLI_TELEMETRY": "0",
        "SAM_CLI_POLL_DELAY": "0.2",  # rather than 5 s: nobody is throttled here
    }
