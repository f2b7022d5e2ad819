# SPDX-License-Identifier: GPL-3.0-or-later
# What run.sh and test.sh share: packages, model, build. Sourced, never run. Every step is quiet and quick when nothing is to do.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
model=${XDG_DATA_HOME:-$HOME/.local/share}/lectern/models/SmolLM2-135M-Instruct.Q4_1.gguf

packages=(cmake ninja-build g++ ccache pkg-config
    qt6-base-dev qt6-tools-dev qt6-l10n-tools qt6-svg-dev qt6-translations-l10n libqcustomplot-dev
    libsentencepiece-dev nlohmann-json3-dev libcli11-dev libexpected-dev libutf8proc-dev libssl-dev
    python3-pip fonts-dejavu-core)

say() { printf '%s\n' "lectern: $*"; }
die() { printf '%s\n' "lectern: $*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
        die "packages are missing and there is no sudo. As root run: apt-get install ${missing[*]}"
    fi
}

install_packages() {
    command -v dpkg-query >/dev/null || { say "not a Debian system: install the packages that README.md lists"; return; }
    missing=()
    local package
    for package in "${packages[@]}"; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    say "installing ${#missing[@]} packages: ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        die "the packages could not be installed (see above). Is there a network, is the disk full?"
    fi
    rm -f "$log"
}

fetch_model() {
    python3 "$root/packaging/fetch_model.py" "$model"
}

# build PRESET [TARGET…]: configures once, builds, shows progress; the log is shown when it fails.
build() {
    local preset=$1 folder log
    shift
    cd "$root"
    folder=$(python3 - "$preset" <<'EOF'
import json, sys
presets = {p["name"]: p for p in json.load(open("CMakePresets.json"))["configurePresets"]}
print(presets[sys.argv[1]].get("binaryDir", "").replace("${sourceDir}/", ""))
EOF
)
    mkdir -p "$folder" || die "the folder $root/$folder cannot be made"
    log=$folder/build.log
    if [ ! -e "$folder/build.ninja" ]; then
        say "configuring ($folder)"
        cmake --preset "$preset" >"$log" 2>&1 || { tail -n 30 "$log" >&2; die "CMake failed; the whole log is in $root/$log"; }
    fi
    say "building ($folder)"
    local targets=()
    [ $# -gt 0 ] && targets=(--target "$@")
    if ! NINJA_STATUS='[%f/%t] ' cmake --build --preset "$preset" "${targets[@]}" 2>&1 | tee "$log" | progress; then
        grep -nE -A8 'error|FAILED|No space' "$log" | head -n 60 >&2
        die "the build failed; the whole log is in $root/$log"
    fi
}

# One line that counts on a terminal, a line for every tenth otherwise.
progress() {
    local line last=-1 done_ total tenth
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        done_=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
        if [ -t 1 ]; then
            printf '\r  %d of %d ' "$done_" "$total"
        else
            tenth=$((done_ * 10 / total))
            [ "$tenth" = "$last" ] || { printf '  %d of %d\n' "$done_" "$total"; last=$tenth; }
        fi
    done
    [ -t 1 ] && [ "${total:-0}" -gt 0 ] && printf '\n'
    return 0
}
