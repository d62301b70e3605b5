#!/bin/sh
# Writes what the control group of this process has used of its CPU, under the names that cAdvisor has for a container:
# container.sh NAME FOLDER. node_exporter reads the file of the folder.
set -eu
name=$1
folder=$2
mkdir -p "$folder"
of() { sed -n "s/^[0-9]*:$1://p" /proc/self/cgroup; }
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    group=/sys/fs/cgroup$(of '')
    read -r quota period <"$group/cpu.max"
    used_ns() { awk '$1 == "usage_usec" { print $2 "000" }' "$group/cpu.stat"; }
    stat=$group/cpu.stat
else
    cpu=/sys/fs/cgroup/cpu$(of cpu)
    quota=$(cat "$cpu/cpu.cfs_quota_us")
    period=$(cat "$cpu/cpu.cfs_period_us")
    usage=/sys/fs/cgroup/cpuacct$(of cpuacct)/cpuacct.usage
    used_ns() { cat "$usage"; }
    stat=$cpu/cpu.stat
fi
while :; do
    seconds=$(used_ns | sed 's/^.\{1,9\}$/000000000&/; s/\(.*\)\(.\{9\}\)$/\1.\2/')
    {
        printf 'container_cpu_usage_seconds_total{name="%s"} %s\n' "$name" "$seconds"
        printf 'container_spec_cpu_quota{name="%s"} %s\n' "$name" "$quota"
        printf 'container_spec_cpu_period{name="%s"} %s\n' "$name" "$period"
        sed -n "s/^nr_periods /container_cpu_cfs_periods_total{name=\"$name\"} /p
            s/^nr_throttled /container_cpu_cfs_throttled_periods_total{name=\"$name\"} /p" "$stat"
    } >"$folder/container.tmp"
    mv "$folder/container.tmp" "$folder/container.prom"
    sleep 0.5
done
