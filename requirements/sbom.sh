#!/bin/sh
# Writes which packages go to Lambda, with versions and hashes, as CycloneDX: sbom.sh CYCLONEDX-PY OUTPUT
set -eu
tool=$1 output=$2

mkdir -p "$(dirname "$output")"
# The tool reads no version that the build backend finds in the package.
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' layers/sweephand/python/sweephand/__init__.py)
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
sed "s/^dynamic = .*/version = \"$version\"/" pyproject.toml > "$project/pyproject.toml"
# The root component has no versioned dependencies in a requirements file. The tool warns of that.
PYTHONWARNINGS=ignore "$tool" requirements --output-reproducible --pyproject "$project/pyproject.toml" --output-file "$output" \
    layers/dependencies/requirements.txt
