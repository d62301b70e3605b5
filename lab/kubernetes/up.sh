#!/usr/bin/env bash
# Starts the Kubernetes that build.sh has built, in network, mount, process and IPC namespaces of its own, and waits until its
# node is ready: about four seconds. Does nothing if it runs. Needs root, iproute2, openssl and util-linux.
# CLUSTER_SECONDS=N ends it by itself after N seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=cluster.sh
. ./cluster.sh

START_SECONDS=120

require_parts() {
    local file
    [ "$(id -u)" = 0 ] || fail "up.sh must run as root, as it makes namespaces"
    for file in bin/etcd bin/kube-apiserver bin/kube-controller-manager bin/kube-scheduler bin/kubelet bin/kubectl \
        debian/root/usr/bin/containerd debian/root/usr/sbin/runc images/pause.tar; do
        [ -e "$KUBE/$file" ] || fail "$KUBE/$file is missing; run lab/kubernetes/build.sh"
    done
}

make_groups() {
    local mount
    for mount in /sys/fs/cgroup/*/; do
        [ -e "$mount/cgroup.procs" ] || continue
        mkdir -p "$mount$CGROUP"
        # A group of cpuset takes no process before it has cores and memory.
        case $mount in */cpuset/)
            cat "${mount}cpuset.cpus" >"$mount$CGROUP/cpuset.cpus"
            cat "${mount}cpuset.mems" >"$mount$CGROUP/cpuset.mems"
            ;;
        esac
    done
}

start_node() {
    mkdir -p "$KUBE/run" "$KUBE/state/kubelet" "$KUBE/log"
    rm -f "$KUBE"/log/*
    make_groups
    CGROUP=$CGROUP setsid unshare --net --mount --pid --ipc --fork --mount-proc --kill-child=SIGKILL \
        bash ./node.sh >"$KUBE/log/node.log" 2>&1 </dev/null 9>&- &
    echo "$! $(started $!)" >"$KUBE/run/holder"
}

wait_until_ready() {
    for _ in $(seq $((START_SECONDS * 5))); do
        [ -e "$KUBE/run/ready" ] && return 0
        holder >/dev/null || break
        sleep 0.2
    done
    tail -n 5 "$KUBE/log/node.log" >&2
    fail "the node is not ready within $START_SECONDS s, or has ended; its logs are in $KUBE/log, and down.sh ends what runs"
}

require_parts
exec 9>"$KUBE/lock"
flock 9
export CLUSTER_LOCKED=1
if pid=$(holder); then
    [ -e "$KUBE/run/ready" ] || fail "a start failed (pid $pid); see $KUBE/log, and run down.sh"
    echo "already running (pid $pid)"
    exit 0
fi
./down.sh
start_node
wait_until_ready
cat "$KUBE/log/times"
