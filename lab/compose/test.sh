#!/usr/bin/env bash
# Tests `plimsoll fleet up --compose` with a Docker engine of its own, in network, mount, process and IPC namespaces that end with this
# script; half a minute. Needs root, Docker's engine and Compose (Debian: docker.io, docker-compose), iproute2, Go.
# PLIMSOLL names the program (by default the debug build), PLIMSOLL_STATIC the one for containers (by default that of `make image`),
# PLIMSOLL_COMPOSE how Compose is called (by default docker-compose).
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPOSITORY=$(cd "$HERE/../.." && pwd)
# shellcheck source=../checks.sh
. "$HERE/../checks.sh"
IMAGE=plimsoll.test/plimsoll:0.1.0
BROKER_IMAGE=plimsoll.test/nats:2
# The address of the machine on Docker's own bridge, which containers reach.
GATEWAY=192.0.2.1
TARGET=$GATEWAY:8080
STARTED=()
export PLIMSOLL_COMPOSE=${PLIMSOLL_COMPOSE:-docker-compose}
PLIMSOLL=${PLIMSOLL:-$REPOSITORY/target/debug/plimsoll}
STATIC=${PLIMSOLL_STATIC:-$REPOSITORY/target/$(uname -m)-unknown-linux-musl/image/plimsoll}

fail() {
    printf 'compose: %s\n' "$1" >&2
    exit 1
}

# Outside: what needs the network, then the namespaces.
enter() {
    [ "$(id -u)" = 0 ] || fail "this must run as root, as it makes namespaces"
    [ -x "$PLIMSOLL" ] || fail "$PLIMSOLL is missing; run cargo build --workspace"
    [ -x "$STATIC" ] || fail "$STATIC is missing; run make image"
    export WORK CGROUP
    WORK=$(mktemp -d)
    CGROUP=plimsoll-compose-$$
    trap clean_up EXIT
    local version
    version=$(sed -n 's/^NATS_VERSION=//p' "$REPOSITORY/scripts/setup.sh")
    CGO_ENABLED=0 GOBIN=$WORK/nats go install "github.com/nats-io/nats-server/v2@$version"
    unshare --net --mount --pid --ipc --fork --mount-proc --kill-child=SIGKILL bash "$HERE/test.sh" inside
}

# The engine has ended with its namespaces; what is left are files and control groups.
clean_up() {
    local group
    rm -rf "$WORK"
    for group in $(find /sys/fs/cgroup -maxdepth 2 -type d -name "$CGROUP" 2>/dev/null); do
        find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
    done
}

start_engine() {
    mount --make-rprivate /
    mount -t tmpfs tmpfs /run
    ip link set lo up
    ip link add docker0 type bridge
    ip addr add "$GATEWAY/24" dev docker0
    ip link set docker0 up
    dockerd --data-root "$WORK/docker" --exec-root /run/docker --cgroup-parent "/$CGROUP" --bip "$GATEWAY/24" \
        --default-address-pool base=198.51.100.0/24,size=28 >"$WORK/dockerd.log" 2>&1 &
    STARTED+=($!)
    for _ in $(seq 300); do
        docker version >/dev/null 2>&1 && return 0
        kill -0 "${STARTED[0]}" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 5 "$WORK/dockerd.log" >&2
    fail "the engine did not start within 30 s"
}

# make_image NAME PROGRAM PATH: an image of one static program.
make_image() {
    local root
    root=$(mktemp -d -p "$WORK")
    install -D -m 0755 "$2" "$root$3"
    tar -C "$root" -c . | docker import --change "ENTRYPOINT [\"$3\"]" - "$1" >/dev/null
}

up() { "$PLIMSOLL" fleet up --compose 2 --image "$IMAGE" --broker-image "$BROKER_IMAGE" --allow "$TARGET" "$@"; }

test_fleet() {
    local keys=plimsoll-fleet-compose/keys broker
    up --within 60s >"$WORK/up" 2>"$WORK/said" || fail "up failed: $(cat "$WORK/said")"
    broker=$(cat "$WORK/up")
    expect "two agents answer at the broker, in the folder that was printed" "nats://127.0.0.1:" "$WORK/up"
    "$PLIMSOLL" fleet status --compose >"$WORK/status"
    expect "status shows the containers" "agent-2_1" "$WORK/status"
    expect "status shows the agents" "agent   agent-2  0.1.0  free" "$WORK/status"
    "$PLIMSOLL" run "http://$TARGET/healthz" -n 600 -c 6 --fleet "$broker" --fleet-credentials "$keys/conductor.creds" \
        --fleet-key "$keys/conductor.nk" --agents 2 --no-probe >"$WORK/run" 2>&1 || fail "run failed: $(cat "$WORK/run")"
    expect "600 requests of two containers are 600" "600 ok · 0 failed" "$WORK/run"
    "$PLIMSOLL" fleet down --compose
    [ -z "$(docker ps -aq)" ] && [ -z "$(docker volume ls -q)" ] || fail "down has left: $(docker ps -a; docker volume ls)"
    [ ! -e plimsoll-fleet-compose ] || fail "down has left files"
    ok "down leaves nothing"
}

test_agents_that_do_not_start() {
    make_image plimsoll.test/other:1 "$(command -v sleep)" /sleep
    if IMAGE=plimsoll.test/other:1 up --within 5s >"$WORK/refused" 2>&1; then fail "an image that is no agent was taken"; fi
    expect "agents that do not come are named" "agent-1" "$WORK/refused"
    [ -z "$(docker ps -aq)" ] || fail "a failed start has left: $(docker ps -a)"
    [ ! -e plimsoll-fleet-compose ] || fail "a failed start has left files"
    ok "a failed start leaves nothing"
}

test_print() {
    up --print >"$WORK/compose.json" 2>/dev/null
    $PLIMSOLL_COMPOSE -f plimsoll-fleet-compose/compose.json config >"$WORK/config"
    expect "Compose takes the printed file" "agent-2" "$WORK/config"
}

inside() {
    start_engine
    make_image "$IMAGE" "$STATIC" /plimsoll
    make_image "$BROKER_IMAGE" "$WORK/nats/nats-server" /nats-server
    "$PLIMSOLL" target --listen "$GATEWAY" --port 8080 >/dev/null &
    STARTED+=($!)
    mkdir "$WORK/fleet"
    cd "$WORK/fleet"
    test_print
    test_fleet
    test_agents_that_do_not_start
    printf '%d passed, 0 failed\n' $PASSED
}

if [ "${1:-}" = inside ]; then inside; else enter; fi
