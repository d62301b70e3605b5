#!/usr/bin/env bash
# Builds the page and fails if the committed one differs; then opens pages of all kinds in Chromium.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    printf 'test-ui: %s\n' "$1" >&2
    exit 1
}

command -v npm >/dev/null || fail "npm is not on the PATH; install Node 20.19 or later"
work=$(mktemp -d)
experiments=(api-vs-native cpu-vs-bandwidth filters-ablation tiers-100k two-apis-behind-nginx)
# One lab for each kind of limit, among those that need only what `make setup` installs.
scenarios=(cpu-single quota thread-single lock link-out pool-target dependency backlog limit-req generator-cpu)
target_pid=
trap '[ -z "$target_pid" ] || kill "$target_pid"; rm -rf "$work"' EXIT

build() {
    cp -r crates/report/page ui/src/generated "$work"
    (cd ui && npm ci --silent --no-audit --no-fund && npm run build >"$work/build.log" 2>&1) || { cat "$work/build.log"; fail "the page does not build"; }
    diff -rq crates/report/page "$work/page" && diff -rq ui/src/generated "$work/generated" || fail "the committed page is not what ui/ gives; run make ui and commit it"
}

# Starts a server to load; its first line of output has its address.
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

# Runs a command whose last argument is the page that it makes. Other tests check its exit code.
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

# Runs each named lab, five at once: the pages matter here, not their figures, which `bench/run.sh experiments` checks.
# The exit code is that of the lab's result; a lab that does not work makes no page.
labs() {
    (cd lab/services/go && GOBIN=$PWD/../bin go install ./...)
    [ -f lab/services/bin/tomcat-login.jar ] || (cd lab/services/java && mvn --quiet --projects '!tests' package)
    mkdir "$work/labs"
    printf '%s\n' "${experiments[@]}" "${scenarios[@]}" | xargs -P 5 -I {} sh -c \
        '"$0" lab run "$1" --quick --quiet --no-git --out "$2/labs" --html "$2/pages/lab-$1.html" >"$2/labs/$1.out" 2>&1 || true' \
        "$plimsoll" {} "$work"
    for name in "${experiments[@]}" "${scenarios[@]}"; do
        [ -s "$work/pages/lab-$name.html" ] || { cat "$work/labs/$name.out"; fail "lab run $name made no page"; }
    done
}

# Makes a run, and ends it by SIGINT once it has printed a line with this text. Background jobs of a script ignore SIGINT by default.
interrupted() {
    local said=$1 page=$2 pid
    shift 2
    # Output of an earlier run must not count.
    : >"$work/err"
    env --default-signal=INT "$plimsoll" "$@" --no-files --html "$page" >"$work/out" 2>"$work/err" &
    pid=$!
    until grep -q "$said" "$work/err"; do
        kill -0 "$pid" || { cat "$work/err"; fail "the run ended before it was interrupted"; }
        sleep 0.01
    done
    kill -INT "$pid"
    wait "$pid" && fail "an interrupted run ended with 0"
    [ -s "$page" ] || { cat "$work/err"; fail "an interrupted run made no page"; }
}

unfinished() {
    local pages=$work/pages
    interrupted '^1 connection:' "$pages/interrupted.html" sweep "$url/cpu?us=300" --ladder 1,2,4 --step 3s
    interrupted 'connected in' "$pages/interrupted-at-once.html" sweep "$url/sleep?ms=60000" --ladder 1,2 --step 10s
    made run "$url/sleep?ms=60000" -c 2 -d 1s --timeout 500ms --no-files --html "$pages/unanswered.html"
}

build
cargo build --quiet --locked --workspace --bin plimsoll
plimsoll=$PWD/${CARGO_TARGET_DIR:-target}/debug/plimsoll
serve
pages
unfinished
labs
(cd ui && PLIMSOLL=$plimsoll PLIMSOLL_PAGES=$work/pages npm test)
