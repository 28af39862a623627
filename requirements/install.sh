#!/bin/sh
# Makes an environment that holds what one lock says, unless it does already: install.sh PYTHON ENVIRONMENT LOCK
set -eu
python=$1 environment=$2 lock=$3

if cmp -s "$lock" "$environment/.locked" && "$environment/bin/python" -c ''; then
    touch "$environment/.locked" # a checkout makes every file look new
    exit
fi
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "Sweephand needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
echo "installing $lock into $environment"
"$python" -m venv --clear "$environment"
"$environment/bin/python" -m pip install --quiet --quiet --disable-pip-version-check --no-compile --no-deps \
    --require-hashes --requirement "$lock"
cp "$lock" "$environment/.locked"
