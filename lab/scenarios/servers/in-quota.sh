#!/bin/sh
# Runs a command in a CPU quota of its own below that of its host: in-quota.sh CORES COMMAND…
set -eu
cores=$1
shift
period=20000
quota=$(awk "BEGIN { print int($cores * $period) }")
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)-quota-$$
    mkdir "$group"
    echo "$quota $period" >"$group/cpu.max"
else
    group=/sys/fs/cgroup/cpu$(sed -n 's/^[0-9]*:cpu:\|^[0-9]*:cpu,cpuacct://p' /proc/self/cgroup)/quota-$$
    mkdir "$group"
    echo "$period" >"$group/cpu.cfs_period_us"
    echo "$quota" >"$group/cpu.cfs_quota_us"
fi
echo $$ >"$group/cgroup.procs"
exec "$@"
