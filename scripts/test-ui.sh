#!/usr/bin/env bash
# Builds the page and fails if the committed one is another; then opens pages of all kinds in Chromium.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    printf 'test-ui: %s\n' "$1" >&2
    exit 1
}

command -v npm >/dev/null || fail "npm is not on the PATH; install Node 20.19 or later"
work=$(mktemp -d)
target_pid=
trap '[ -z "$target_pid" ] || kill "$target_pid"; rm -rf "$work"' EXIT

build() {
    cp -r crates/report/page ui/src/generated "$work"
    (cd ui && npm ci --silent --no-audit --no-fund && npm run build >"$work/build.log" 2>&1) || { cat "$work/build.log"; fail "the page does not build"; }
    diff -rq crates/report/page "$work/page" && diff -rq ui/src/generated "$work/generated" || fail "the committed page is not what ui/ gives; run make ui and commit it"
}

# A server to load; its first line has its address.
serve() {
    : >"$work/target"
    "$plimsoll" target >"$work/target" &
    target_pid=$!
    until [ -s "$work/target" ]; do
        kill -0 "$target_pid" || fail "the target did not start"
        sleep 0.01
    done
    url=http://$(head -n 1 "$work/target")
}

# A command whose last argument is the page that it makes. Its exit code says what it found, which is another test's matter.
made() {
    "$plimsoll" "$@" >"$work/out" 2>&1 || true
    [ -s "${!#}" ] || { cat "$work/out"; fail "plimsoll $* made no page"; }
}

pages() {
    local pages=$work/pages runs=$work/runs
    mkdir "$pages"
    made sweep "$url/cpu?us=300" --ladder 1,2,4 --step 1s --profile perf -o "$runs" --no-git --html "$pages/sweep.html"
    mv "$runs"/*.plimsoll "$work/old.plimsoll"
    made sweep "$url/cpu?us=200" --ladder 1,2,4 --step 1s --profile perf -o "$runs" --no-git --html "$pages/sweep-fast.html"
    mv "$runs"/*.plimsoll "$work/new.plimsoll"
    made run "$url/status/500" -c 2 -d 1s --no-files --html "$pages/failed.html"
    made run "$url/sleep?ms=5&workers=2" --rate 300 -d 2s --p99 50ms --no-files --html "$pages/rate.html"
    made run "$url/cpu?us=100" -c 1 -d 100ms --no-files --html "$pages/short.html"
    made diff "$work/old.plimsoll" "$work/new.plimsoll" --no-files --html "$pages/diff.html"
    made tiers "$work/old.plimsoll" "$work/new.plimsoll" --no-figures --html "$pages/tiers.html"
    made plan "$work/old.plimsoll" --target 20k --html "$pages/plan.html"
    made ab "$url/" "$url/healthz" -c 2 -d 300ms --rounds 7 --no-probe -o "$runs" --html "$pages/ab.html"
    printf 'cache,log,qps\n0,0,5000\n1,0,3500\n0,1,4200\n1,1,3200\n0,0,4950\n1,0,3520\n0,1,4230\n1,1,3190\n' >"$work/trials.csv"
    made ablate --csv "$work/trials.csv" --map switch=cache,log --map qps=qps --html "$pages/ablate.html"
}

build
cargo build --quiet --locked --workspace --bin plimsoll
plimsoll=$PWD/${CARGO_TARGET_DIR:-target}/debug/plimsoll
serve
pages
(cd ui && PLIMSOLL=$plimsoll PLIMSOLL_PAGES=$work/pages npm test)
