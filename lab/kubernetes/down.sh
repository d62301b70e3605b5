#!/usr/bin/env bash
# Ends the Kubernetes of up.sh and removes its state and its control groups. Harmless if none runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=cluster.sh
. ./cluster.sh

# The end of process 1 of a process namespace ends every other process of it; the kernel then removes the network and mounts.
end_node() {
    local pid first start
    pid=$(holder) || return 0
    first=$(first_process) || first=$pid
    start=$(started "$first")
    kill -KILL "$pid"
    for _ in $(seq 100); do
        if ! holder >/dev/null && [ "$(started "$first")" != "$start" ]; then return 0; fi
        sleep 0.1
    done
    fail "the node did not end within 10 s (pid $pid)"
}

groups() {
    find /sys/fs/cgroup -maxdepth 2 -type d -name "$CGROUP" 2>/dev/null || true
}

remove_groups() {
    local group
    for _ in $(seq 50); do
        for group in $(groups); do find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true; done
        [ -z "$(groups)" ] && return 0
        sleep 0.1
    done
    fail "control groups are left: $(groups)"
}

if [ -z "${CLUSTER_LOCKED:-}" ]; then
    exec 9>"$KUBE/lock"
    flock 9
fi
end_node
remove_groups
rm -rf "${KUBE:?}/state" "${KUBE:?}/run"
