#!/bin/sh
# Fetches what browsers run from npm: each package of a list, by version and integrity hash: browser.sh LIST
# The files of browser.json, for the console, are in the repository. It needs npm, so it runs for them when a
# version changes and at no other time. `make docs` runs it for docs.json, once.
set -eu
list=$(realpath "$1")
root=$(dirname "$list")/..
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT

python3 - "$list" <<'PYTHON' | while IFS="$(printf '\t')" read -r name version integrity file vendored; do
import json, sys
for name, each in json.load(open(sys.argv[1], encoding="utf-8")).items():
    print(name, each["version"], each["integrity"], each["file"], each["vendored"], sep="\t")
PYTHON
    cd "$there"
    archive=$(npm pack --silent "$name@$version")
    found=sha512-$(openssl dgst -sha512 -binary "$archive" | base64 | tr -d '\n')
    if [ "$found" != "$integrity" ]; then
        echo "$name $version has the hash $found. $(basename "$list") has $integrity." >&2
        exit 1
    fi
    tar -xzf "$archive" "package/$file"
    mkdir -p "$(dirname "$root/$vendored")"
    cp "package/$file" "$root/$vendored"
    sha256sum "$root/$vendored"
done
