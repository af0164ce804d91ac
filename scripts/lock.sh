#!/usr/bin/env bash
# Writes constraints.txt: one name==version for each package that a full install (all extras) brings.
#
# The lock is made on the oldest Python that we support, so that every version in it also has a build for the newer
# ones, and from the default index alone: pip's configuration files and extra wheel folders of this machine are left out,
# so that no version gets in that others cannot install. Run it as `make lock`, then `make test`.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3.11}
"$python" - <<'PY'
import sys
if sys.version_info[:2] != (3, 11):
    sys.exit(f"the lock is made with Python 3.11, this is {sys.version.split()[0]}: run `make lock PYTHON=python3.11`")
PY

export PIP_CONFIG_FILE=/dev/null
unset PIP_FIND_LINKS PIP_CONSTRAINT PIP_EXTRA_INDEX_URL PIP_INDEX_URL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --upgrade pip
# from a copy, since a build leaves its traces in the folder it builds
mkdir "$work/source"
cp -R pyproject.toml LICENSE ./*.md sessionbank "$work/source/"
"$work/venv/bin/pip" install --quiet "$work/source[dev,llm,dask,lab]"
{
    echo "# Every package of a full install, pinned. Written by scripts/lock.sh (make lock); do not edit by hand."
    "$work/venv/bin/pip" freeze --exclude sessionbank
} >"$work/constraints.txt"

# A lock with an address or a path in it would install only here.
if grep -nE '://| @ |^-' "$work/constraints.txt"; then
    echo "the freeze names an address or a path (above): constraints.txt is left as it was" >&2
    exit 1
fi
mv "$work/constraints.txt" constraints.txt
echo "constraints.txt: $(grep -c == constraints.txt) packages"
