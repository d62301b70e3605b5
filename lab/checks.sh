# What the tests of this folder that are scripts say and wait for. Sourced; the script that does so defines `fail`.
# shellcheck shell=bash
PASSED=0

ok() {
    PASSED=$((PASSED + 1))
    printf '%4d s  ok: %s\n' $SECONDS "$1"
}

# expect NAME TEXT FILE: the file holds the text.
expect() {
    grep -qF -- "$2" "$3" || { cat "$3" >&2; fail "$1: expected '$2'"; }
    ok "$1"
}

# until_ok COMMAND ...: within 30 seconds.
until_ok() {
    for _ in $(seq 300); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    fail "this did not succeed within 30 s: $*"
}
