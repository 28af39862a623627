"""Decides what of the installed libraries does not go to Lambda: what no function can reach.

    python prune.py DIRECTORY

Most of what it removes is botocore's descriptions of the services that Sweephand never calls. The names of
holidays stay in English alone.
"""

import shutil
import sys
from pathlib import Path

SERVICES = {
    "dynamodb",
    "events",
    "lambda",
    "s3",
    "sns",
    "sqs",
    "stepfunctions",
    "sts",
}


def prune(root: Path) -> int:
    """The bytes removed below `root`, a directory that `pip install --target` filled."""
    before = _size(root)
    data = root / "botocore" / "data"
    assert data.is_dir(), "botocore moved its descriptions of services; say here where they are now"
    unused = [folder for folder in data.iterdir() if folder.is_dir() and folder.name not in SERVICES]
    unused += [folder for folder in root.glob("holidays/locale/*") if folder.name != "en_US"]
    for folder in [*unused, root / "bin", root / "boto3" / "examples", *root.rglob("tests")]:
        shutil.rmtree(folder, ignore_errors=True)
    return before - _size(root)


def _size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.stdout.write(f"pruned {prune(Path(sys.argv[1])) // 1_000_000} MB\n")
