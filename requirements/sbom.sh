#!/bin/sh
# Writes which packages go to Lambda, with versions and hashes, as CycloneDX: sbom.sh CYCLONEDX-PY OUTPUT
set -eu
tool=$1 output=$2

mkdir -p "$(dirname "$output")"
# The root component has no versioned dependencies in a requirements file. The tool warns of that.
PYTHONWARNINGS=ignore "$tool" requirements --output-reproducible --pyproject pyproject.toml --output-file "$output" \
    layers/dependencies/requirements.txt
