"""A virtual environment that has only what is installed from a wheel, as that of a user without a clone."""

import re
import subprocess
import sys
import venv
from pathlib import Path

from infra.local.places import ROOT, StackError, environment


class Installed:
    """The environment in a new folder. All packages that the wheel needs get their locked versions."""

    def __init__(self, home: Path) -> None:
        self.home = home
        #: The program that the wheel installs.
        self.sweephand = home / "bin" / "sweephand"
        self._locked = home / "locked.txt"
        venv.create(home, with_pip=False, symlinks=True)
        lock = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
        # With hashes, pip would ask for that of the wheel too.
        self._locked.write_text("\n".join(re.findall(r"^[\w.-]+==\S+", lock, re.MULTILINE)), encoding="utf-8")

    def install(self, wanted: str) -> None:
        """As `pip install` in this environment. StackError with the output of pip if it fails."""
        pip = (sys.executable, "-m", "pip", "--python", self.home / "bin" / "python", "install", "--quiet")
        done = self.run(*pip, "--constraint", self._locked, wanted)
        if done.returncode != 0:
            raise StackError(f"pip install {wanted} failed\n{done.stdout}{done.stderr}")

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """What became of a program that has ended. It finds no module of this repository."""
        return subprocess.run(
            words, cwd=self.home, env=environment(), capture_output=True, text=True, check=False
        )

    def size(self) -> int:
        """The bytes of all its files."""
        return sum(each.stat().st_size for each in self.home.rglob("*") if not each.is_symlink())
