#!/bin/sh
# Fetches what the console takes from npm: each package of browser.json, by its version and integrity hash.
# It needs npm, so it runs when a version changes and at no other time. The files are in the repository.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT

python3 - "$here/browser.json" <<'PYTHON' | while IFS="$(printf '\t')" read -r name version integrity file vendored; do
import json, sys
for name, each in json.load(open(sys.argv[1], encoding="utf-8")).items():
    print(name, each["version"], each["integrity"], each["file"], each["vendored"], sep="\t")
PYTHON
    cd "$there"
    npm pack --silent "$name@$version" >/dev/null
    archive=$name-$version.tgz
    found=sha512-$(openssl dgst -sha512 -binary "$archive" | base64 | tr -d '\n')
    if [ "$found" != "$integrity" ]; then
        echo "$name $version has the hash $found. browser.json has $integrity." >&2
        exit 1
    fi
    tar -xzf "$archive" "package/$file"
    cp "package/$file" "$here/../$vendored"
    sha256sum "$here/../$vendored"
done
