#!/bin/sh
# Fetches moto's own tests of EventBridge Scheduler into a folder, from the release that a lock file has:
# moto-tests.sh FOLDER LOCK
set -eu
folder=$1 lock=$2
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT

# The lock has the hashes of the release's files. Without its extras, moto needs nothing to be unpacked.
sed -n '/^moto==/,/[^\\]$/p' "$lock" >"$there/moto.txt"
pip3=$(dirname "$lock")/../.venv/bin/pip
"$pip3" download --quiet --no-deps --no-binary moto --require-hashes --dest "$there" --requirement "$there/moto.txt"
rm -rf "$folder"
mkdir -p "$folder"
tar -xzf "$there"/moto-*.tar.gz --directory "$folder" --strip-components=3 --wildcards '*/tests/test_scheduler/*'
touch "$folder/.fetched"
