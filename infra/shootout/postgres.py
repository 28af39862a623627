"""PostgreSQL for the peers on it: Debian's server with its defaults, by which each commit is synced."""

import os
import pwd
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from infra.local.places import StackError, environment
from infra.shootout.processes import Processes

_BIN: Final = Path("/usr/lib/postgresql/15/bin")

#: The user of the database. If root runs the harness, the package's user of this name runs the server.
_USER: Final = "postgres"


def version() -> Mapping[str, str]:
    """The version of the server. StackError if its package is missing."""
    if not _BIN.exists():
        raise StackError("PostgreSQL is missing: apt-get install postgresql-15")
    told = subprocess.run([_BIN / "postgres", "--version"], capture_output=True, text=True, check=True)
    return {"postgresql": told.stdout.split()[2]}


def address(port: int) -> str:
    """Where clients reach the server on a port."""
    return f"postgresql://{_USER}@127.0.0.1:{port}/postgres"


def start(processes: Processes, home: Path, port: int) -> None:
    """Start the server on its folder in the folder of a run, which it makes if there is none."""
    data = home / "postgres"
    as_user: list[str] = []
    if os.geteuid() == 0:  # the server does not run as root
        as_user = ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"]
    if not data.exists():
        data.mkdir(mode=0o700)
        if as_user:
            home.chmod(0o711)
            os.chown(data, pwd.getpwnam(_USER).pw_uid, pwd.getpwnam(_USER).pw_gid)
        made = [*as_user, str(_BIN / "initdb"), "-D", str(data), "-U", _USER, "--auth=trust"]
        subprocess.run(made, env=environment(), cwd="/", capture_output=True, check=True)
    flags = ("-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
    command = [*as_user, _BIN / "postgres", "-D", data, "-p", port, *flags]
    processes.start("postgres", command, "ready to accept connections")
