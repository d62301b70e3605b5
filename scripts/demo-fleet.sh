#!/usr/bin/env bash
# A fleet on this machine: builds Plimsoll, starts its reference server, a broker of three nodes and three agents, and loads the server
# from all agents together. Needs nats-server, which scripts/setup.sh installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

OUT=plimsoll-demo
plimsoll=$PWD/target/release/plimsoll
target_pid=

# Ends what this script started: the fleet by its record, the server by its process id.
stop() {
    "$plimsoll" fleet down || true
    [ -z "$target_pid" ] || kill "$target_pid" 2>/dev/null || true
}

cargo build --release --locked --package plimsoll

# In the folder of a local fleet, commands find its keys.
mkdir -p "$OUT"
cd "$OUT"
trap stop EXIT
exec 3< <(exec "$plimsoll" target --port 0)
target_pid=$!
read -r -t 10 first_line <&3 || {
    echo "demo-fleet: the target did not say its address within 10 s" >&2
    exit 1
}
address=$(grep -oE '[0-9.]+:[0-9]+' <<<"$first_line" | head -n 1) || {
    echo "demo-fleet: no address in the target's first line: $first_line" >&2
    exit 1
}

broker=$("$plimsoll" fleet up --local 3 --nodes 3)
"$plimsoll" fleet status
"$plimsoll" run "http://$address/sleep?ms=5&workers=16" -R 1500 -d 10s --fleet "$broker" --agents 3 \
    --name fleet --out . --force
printf '\nThe figures and the run file are in %s/\n' "$OUT"
