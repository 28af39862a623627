#!/bin/sh
# Installs the packages of npm's lock file into a folder, unless it has them: npm.sh FOLDER LOCK
set -eu
folder=$1 lock=$2

if cmp -s "$lock" "$folder/.locked"; then
    touch "$folder/.locked" # after a checkout every file has a new time
    exit
fi
echo "installing $lock into $folder"
mkdir -p "$folder"
cp "$(dirname "$lock")/.npmrc" "$(dirname "$lock")/package.json" "$lock" "$folder"
npm ci --silent --prefix "$folder" # it checks the hashes that the lock has
cp "$lock" "$folder/.locked"
