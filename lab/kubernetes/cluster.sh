# Shared by the scripts of this folder: where the cluster lives, and which process holds its namespaces.
KUBE=${PLIMSOLL_KUBERNETES:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.kubernetes}
mkdir -p "$KUBE"
KUBE=$(cd "$KUBE" && pwd)
export PLIMSOLL_KUBERNETES=$KUBE
# Below each mount of /sys/fs/cgroup. It differs by folder, so that several clusters can run.
CGROUP=plimsoll-kubernetes-$(printf %s "$KUBE" | cksum | cut -d' ' -f1)

fail() {
    printf 'kubernetes: %s\n' "$1" >&2
    exit 1
}

# The start time of a process in ticks; nothing if it is gone or a zombie.
started() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    [ "$1" = Z ] || echo "${20}"
}

# The process that holds the cluster, if it runs. The start time guards against a pid that was used again.
holder() {
    local pid start
    { read -r pid start <"$KUBE/run/holder"; } 2>/dev/null || return 1
    [ -n "$start" ] && [ "$(started "$pid")" = "$start" ] && echo "$pid"
}

# Process 1 of the cluster, by its pid on this machine.
first_process() {
    local pid child
    pid=$(holder) || return 1
    child=$(cut -d' ' -f1 "/proc/$pid/task/$pid/children")
    [ -n "$child" ] && echo "$child"
}
