#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# packaging/run.sh [arguments of lectern]
#
# Everything from a bare Debian 12 to the window: installs packages, builds, fetches the model (a download of 93 MB, once), starts
# Lectern. Without a display and without arguments it runs the sample prompt and writes charts and data into ./lectern-demo.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_packages
build release lectern lectern-cli
fetch_model || die "the model could not be fetched; Lectern is built: run $root/build/app/lectern and open a GGUF file of your own"

lectern=$root/build/app/lectern
if [ $# -eq 0 ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}${QT_QPA_PLATFORM:-}" ]; then
    demo=$PWD/lectern-demo
    say "there is no display: running the sample prompt, writing pictures and data into $demo"
    mkdir -p "$demo" || die "the folder $demo cannot be made"
    exec "$lectern" --model "$model" --run "Serving LLMs is not like serving web apps." --max-tokens 64 \
        --export "$demo" --screenshot "$demo/window.png" --size 1280x800 --theme light --quit
fi
exec "$lectern" "$@"
