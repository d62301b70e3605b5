//! Metrics of a host as a whole.

use super::row::metrics;

metrics! {
    cpu = Cpu {
        USER_MS "user_ms" Counter Ms "User mode, without nice; guests included";
        NICE_MS "nice_ms" Counter Ms "User mode of niced processes";
        SYSTEM_MS "system_ms" Counter Ms "Kernel mode";
        IDLE_MS "idle_ms" Counter Ms "Idle";
        IOWAIT_MS "iowait_ms" Counter Ms "Idle while a task waited for a disk";
        IRQ_MS "irq_ms" Counter Ms "Interrupts";
        SOFTIRQ_MS "softirq_ms" Counter Ms "Deferred interrupt work, mostly packets";
        STEAL_MS "steal_ms" Counter Ms "Taken by other guests of the machine below";
        TOTAL_MS "total_ms" Counter Ms "Sum of all of these";
        CORES "cores" Gauge Count "Cores that are online";
    }

    core = Core {
        USER_MS "user_ms" Counter Ms "User mode, without nice; guests included";
        NICE_MS "nice_ms" Counter Ms "User mode of niced processes";
        SYSTEM_MS "system_ms" Counter Ms "Kernel mode";
        IDLE_MS "idle_ms" Counter Ms "Idle";
        IOWAIT_MS "iowait_ms" Counter Ms "Idle while a task waited for a disk";
        IRQ_MS "irq_ms" Counter Ms "Interrupts";
        SOFTIRQ_MS "softirq_ms" Counter Ms "Deferred interrupt work, mostly packets";
        STEAL_MS "steal_ms" Counter Ms "Taken by other guests of the machine below";
        TOTAL_MS "total_ms" Counter Ms "Sum of all of these";
    }

    scheduler = Scheduler {
        CONTEXT_SWITCHES "context_switches" Counter Count "Context switches";
        RUNNING "running" Gauge Count "Tasks that run or are ready to";
        BLOCKED "blocked" Gauge Count "Tasks that wait for a disk";
    }

    pressure = Pressure {
        CPU_SOME_US "cpu_some_us" Counter Us "At least one task waited for a CPU";
        IO_SOME_US "io_some_us" Counter Us "At least one task waited for a disk";
        IO_FULL_US "io_full_us" Counter Us "Every task that was not idle waited for a disk";
        MEMORY_SOME_US "memory_some_us" Counter Us "At least one task waited for memory";
        MEMORY_FULL_US "memory_full_us" Counter Us "Every task that was not idle waited for memory";
    }

    memory = Memory {
        TOTAL_BYTES "total_bytes" Gauge Bytes "Memory of the machine";
        AVAILABLE_BYTES "available_bytes" Gauge Bytes "Memory available without swapping";
        SWAP_USED_BYTES "swap_used_bytes" Gauge Bytes "Swap in use";
        SWAPPED_IN_PAGES "swapped_in_pages" Counter Pages "Read from swap";
        SWAPPED_OUT_PAGES "swapped_out_pages" Counter Pages "Written to swap";
        MAJOR_FAULTS "major_faults" Counter Count "Page faults that waited for a disk";
    }

    disk = Disk {
        READ_OPS "read_ops" Counter Count "Reads completed";
        READ_BYTES "read_bytes" Counter Bytes "Bytes read";
        WRITE_OPS "write_ops" Counter Count "Writes completed";
        WRITE_BYTES "write_bytes" Counter Bytes "Bytes written";
        BUSY_MS "busy_ms" Counter Ms "At least one operation was in progress";
        FLUSH_OPS "flush_ops" Counter Count "Flushes completed (since Linux 5.5)";
        FLUSH_MS "flush_ms" Counter Ms "Spent in flushes (since Linux 5.5)";
        IN_FLIGHT "in_flight" Gauge Count "Operations in progress";
    }

    cgroup = Cgroup {
        USAGE_US "usage_us" Counter Us "CPU time used";
        PERIODS "periods" Counter Count "Periods of the quota in which the group ran";
        THROTTLED_PERIODS "throttled_periods" Counter Count "Periods in which the quota stopped it";
        THROTTLED_US "throttled_us" Counter Us "Time in which the quota stopped it";
        QUOTA_US "quota_us" Gauge Us "CPU time that it may use in each period; without a quota left out";
        PERIOD_US "period_us" Gauge Us "Length of a period; without a quota left out";
        MEMORY_BYTES "memory_bytes" Gauge Bytes "Memory in use, page cache included";
        MEMORY_LIMIT_BYTES "memory_limit_bytes" Gauge Bytes "Limit of memory; without one left out";
        MEMORY_FAILURES "memory_failures" Counter Count "Times that memory in use met the limit";
        OOM_KILLS "oom_kills" Counter Count "Processes killed for want of memory";
        REFAULTED_PAGES "refaulted_pages" Counter Pages "Evicted from cache and read again";
        PROCESSES "processes" Gauge Count "Tasks in the group";
        DISK_READ_BYTES "disk_read_bytes" Counter Bytes "Read from the one disk that has a limit";
        DISK_WRITTEN_BYTES "disk_written_bytes" Counter Bytes "Written to the one disk that has a limit";
        DISK_READ_LIMIT_BYTES_PER_SEC "disk_read_limit_bytes_per_sec" Gauge BytesPerSec "Limit of reads";
        DISK_WRITE_LIMIT_BYTES_PER_SEC "disk_write_limit_bytes_per_sec" Gauge BytesPerSec "Limit of writes";
    }
}
