#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# packaging/test.sh [--sanitize] [arguments of ctest]
#
# Installs packages, builds with warnings as errors, fetches the model, runs every test. With --sanitize also the engine and
# app-core tests under AddressSanitizer and UBSan, and the threaded ones under ThreadSanitizer.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

sanitize=
[ "${1:-}" = --sanitize ] && { sanitize=1; shift; }

# Names what was skipped, so that a missing model or reference file is never silent.
run_ctest() {
    local folder=$1 status=0 skipped
    shift
    ctest --test-dir "$root/$folder" --output-on-failure -j"$(nproc)" "$@" || status=$?
    skipped=$(sed -n 's/^SKIP *: *//p' "$root/$folder/Testing/Temporary/LastTest.log" | sort -u)
    [ -z "$skipped" ] || printf 'Skipped:\n%s\n' "$(sed 's/^/  /' <<<"$skipped")"
    return $status
}

install_packages
fetch_model || say "the model is not here: the tests that need it are skipped and named below"
build check
if [ -n "$sanitize" ]; then
    build asan engine_tests core_tests
    build tsan threaded_tests
    say "engine and app-core tests under AddressSanitizer and UndefinedBehaviorSanitizer"
    run_ctest build-asan -L 'engine|core' "$@" || die "tests failed under AddressSanitizer / UndefinedBehaviorSanitizer"
    say "threaded tests under ThreadSanitizer"
    run_ctest build-tsan -L threaded "$@" || die "tests failed under ThreadSanitizer"
fi
say "all tests"
run_ctest build-check "$@" || die "tests failed"
