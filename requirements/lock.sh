#!/bin/sh
# Chooses the newest versions that pyproject.toml allows, for every Python from 3.11 on: lock.sh UV
set -eu
uv=$1
lambda=layers/dependencies/requirements.txt

lock() {
    output=$1
    shift
    "$uv" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
        --output-file "$output" "$@"
}

lock "$lambda" --group lambda
# The tests run with the same versions that go to Lambda.
lock requirements/dev.txt --constraint "$lambda" --group dev --group lambda pyproject.toml
lock requirements/sam.txt --group sam
lock requirements/generators.txt --group generators
# package.json names the versions of its packages. Without npm their lock stays as it is.
for each in npm shootout; do
    ! command -v npm >/dev/null || (cd requirements/$each && npm install --package-lock-only --silent)
done
lock requirements/ministack.txt --group ministack
lock requirements/microburst.txt --group microburst
lock requirements/sbom.txt --group sbom
lock requirements/docs.txt --group docs
lock requirements/shootout.txt --group shootout
lock requirements/schemathesis.txt --group schemathesis
