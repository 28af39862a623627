#!/bin/sh
# Installs the packages of a lock file into an environment, unless it has them: install.sh PYTHON ENVIRONMENT LOCK
set -eu
python=$1 environment=$2 lock=$3
uv=$(dirname "$0")/../.local/venvs/uv/bin/uv

if cmp -s "$lock" "$environment/.locked" && "$environment/bin/python" -c ''; then
    touch "$environment/.locked" # after a checkout every file has a new time
    exit
fi
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "Sweephand needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
echo "installing $lock into $environment"
"$python" -m venv --clear "$environment"
# uv downloads and unpacks packages side by side, pip one after the other. pip installs uv itself. It installs all
# else where uv fails: uv does not read pip's settings, such as those of another index. The certificates are those
# of the system, as for every other program.
{ [ -x "$uv" ] && UV_SYSTEM_CERTS=true "$uv" pip install --quiet --python "$environment/bin/python" --no-deps \
    --require-hashes --requirement "$lock" 2>/dev/null; } ||
    "$environment/bin/python" -m pip install --quiet --quiet --disable-pip-version-check --no-compile --no-deps \
        --require-hashes --requirement "$lock"
cp "$lock" "$environment/.locked"
