"""Runs a unit test on broken code, in a process of its own."""

import os
import subprocess
import sys

import pytest
from tests.simulation.mutations.search import MUTATIONS


def exit_code(mutation: str, test: str) -> pytest.ExitCode:
    """Return what pytest says of a test while the code is broken so."""
    ran = subprocess.run(  # noqa: S603 - this interpreter, and names from the registry
        [sys.executable, "-m", __spec__.name, mutation, test],
        # The test runs, whatever is in this commit's sample.
        env={**os.environ, "SWEEPHAND_SAMPLE": "", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
        stdout=subprocess.DEVNULL,
    )
    return pytest.ExitCode(ran.returncode)


if __name__ == "__main__":
    with MUTATIONS[sys.argv[1]].breaks():
        sys.exit(pytest.main(["-p", "no:cacheprovider", "-x", sys.argv[2]]))
