#!/bin/sh
# Fetches tests from the source distribution of a release that a lock file has: foreign-tests.sh FOLDER LOCK NAME PATTERN
set -eu
folder=$1 lock=$2 name=$3 pattern=$4
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT

# The lock has the hashes of the release's files.
sed -n "/^$name==/,/[^\\\\]$/p" "$lock" >"$there/lock.txt"
"$(dirname "$0")/../.venv/bin/python" -m pip download --quiet --no-deps --no-binary "$name" --require-hashes \
    --dest "$there" --requirement "$there/lock.txt"
rm -rf "$folder"
mkdir -p "$folder" "$there/files"
tar -xzf "$there/$name"-*.tar.gz --directory "$there/files" --wildcards "*/$pattern"
find "$there/files" -name '*.py' -exec cp {} "$folder" \;
touch "$folder/.fetched"
