//! The table of metrics, by source.

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
        MACHINE "machine" Gauge Id "A number made of its boot id, the same for two probes of one machine";
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
        OOM_KILLS "oom_kills" Counter Count "Processes killed because memory ran out";
        REFAULTED_PAGES "refaulted_pages" Counter Pages "Evicted from cache and read again";
        PROCESSES "processes" Gauge Count "Tasks in the group";
        DISK_READ_BYTES "disk_read_bytes" Counter Bytes "Read from the one disk that has a limit";
        DISK_WRITTEN_BYTES "disk_written_bytes" Counter Bytes "Written to the one disk that has a limit";
        DISK_READ_LIMIT_BYTES_PER_SEC "disk_read_limit_bytes_per_sec" Gauge BytesPerSec "Limit of reads";
        DISK_WRITE_LIMIT_BYTES_PER_SEC "disk_write_limit_bytes_per_sec" Gauge BytesPerSec "Limit of writes";
    }

    interface = Interface {
        RECEIVED_BYTES "received_bytes" Counter Bytes "Received";
        RECEIVED_PACKETS "received_packets" Counter Count "Packets received";
        RECEIVED_DROPPED "received_dropped" Counter Count "Received packets that were dropped";
        SENT_BYTES "sent_bytes" Counter Bytes "Sent";
        SENT_PACKETS "sent_packets" Counter Count "Packets sent";
        SENT_DROPPED "sent_dropped" Counter Count "Packets to send that were dropped";
        SPEED_BITS_PER_SEC "speed_bits_per_sec" Gauge BitsPerSec "Speed of the link, of hardware only";
    }

    tcp = Tcp {
        SEGMENTS_SENT "segments_sent" Counter Count "Segments sent, without retransmitted ones";
        SEGMENTS_RECEIVED "segments_received" Counter Count "Segments received";
        SEGMENTS_RETRANSMITTED "segments_retransmitted" Counter Count "Segments retransmitted, SYNs included";
        SYN_RETRANSMITTED "syn_retransmitted" Counter Count "SYN and SYN-ACK segments retransmitted";
        TIMEOUTS "timeouts" Counter Count "Retransmission timeouts";
        LISTEN_OVERFLOWS "listen_overflows" Counter Count "Connections that found an accept queue full";
        LISTEN_DROPS "listen_drops" Counter Count "SYNs dropped at a listener, for a full queue or otherwise";
        ACTIVE_OPENS "active_opens" Counter Count "Connections opened from here";
        PASSIVE_OPENS "passive_opens" Counter Count "Connections opened to here";
        ATTEMPT_FAILS "attempt_fails" Counter Count "Connections that failed to open";
        RESETS_SENT "resets_sent" Counter Count "Segments sent with RST";
        ESTABLISHED "established" Gauge Count "Connections that are established";
    }

    sockets = Sockets {
        IN_USE "in_use" Gauge Count "Open TCP sockets over IPv4 and IPv6";
        TIME_WAIT "time_wait" Gauge Count "Sockets in TIME-WAIT";
        ORPHANS "orphans" Gauge Count "Sockets that no process holds any more";
    }

    conntrack = Conntrack {
        ENTRIES "entries" Gauge Count "Connections in the table";
        LIMIT "limit" Gauge Count "Connections that fit into the table";
    }

    ports = Ports {
        SOCKETS_OPEN "sockets_open" Gauge Count "Open TCP sockets: an upper bound of the ports in use";
        SOCKETS_TIME_WAIT "sockets_time_wait" Gauge Count "Sockets in TIME-WAIT, which hold a port too";
        PORTS_IN_RANGE "ports_in_range" Gauge Count "Local ports from one source address to one target address";
    }

    process = Process {
        CPU_US "cpu_us" Counter Us "CPU time of all threads, those that ended included";
        CHILDREN_CPU_MS "children_cpu_ms" Counter Ms "CPU time of child processes that ended and that it waited for, with theirs";
        RUN_WAIT_US "run_wait_us" Counter Us "Time that threads were ready to run and had no CPU, summed";
        USER_MS "user_ms" Counter Ms "CPU time in user mode, in ticks of the kernel";
        SYSTEM_MS "system_ms" Counter Ms "CPU time in kernel mode, in ticks of the kernel";
        VOLUNTARY_SWITCHES "voluntary_switches" Counter Count "Times that a thread gave its CPU up";
        INVOLUNTARY_SWITCHES "involuntary_switches" Counter Count "Times that a thread was preempted";
        READ_CALLS "read_calls" Counter Count "Calls of read(2) and its variants, of any kind of file";
        WRITE_CALLS "write_calls" Counter Count "Calls of write(2) and its variants, of any kind of file";
        READ_BYTES "read_bytes" Counter Bytes "Read from storage";
        WRITE_BYTES "write_bytes" Counter Bytes "Written to storage";
        MAJOR_FAULTS "major_faults" Counter Count "Page faults that waited for a disk";
        PARENT "parent" Gauge Pid "Parent process";
        THREADS "threads" Gauge Count "Threads";
        DESCRIPTORS "descriptors" Gauge Count "Open file descriptors";
        DESCRIPTORS_LIMIT "descriptors_limit" Gauge Count "Soft limit of file descriptors";
        RESIDENT_BYTES "resident_bytes" Gauge Bytes "Resident memory";
        ALLOWED_CORES "allowed_cores" Gauge CoreSet "Cores that it may run on; left out where there are more than 64";
        QUOTA_US "quota_us" Gauge Us "CPU time that its tightest control group may use in each period";
        PERIOD_US "period_us" Gauge Us "Length of that group's period";
    }

    thread = Thread {
        CPU_US "cpu_us" Counter Us "CPU time";
        RUN_WAIT_US "run_wait_us" Counter Us "Time that it was ready to run and had no CPU";
        VOLUNTARY_SWITCHES "voluntary_switches" Counter Count "Times that it gave its CPU up";
        INVOLUNTARY_SWITCHES "involuntary_switches" Counter Count "Times that it was preempted";
    }

    waiting = Waiting {
        LOOKS "looks" Counter Count "Times that the process was sampled";
        RUNNING "running" Counter Count "Threads found on a CPU";
        RUNNABLE "runnable" Counter Count "Threads found ready to run, without a CPU";
        DISK "disk" Counter Count "Threads found waiting for a disk (state D)";
        FUTEX "futex" Counter Count "Threads found waiting for another thread: a lock, a condition, a queue";
        EPOLL "epoll" Counter Count "Threads found in an event loop: epoll, poll, select, io_uring";
        ACCEPT "accept" Counter Count "Threads found waiting for a new connection";
        SOCKET_READ "socket_read" Counter Count "Threads found waiting to read from a connection";
        SOCKET_WRITE "socket_write" Counter Count "Threads found waiting for room to write to a connection";
        PIPE "pipe" Counter Count "Threads found waiting for the other end of a pipe";
        TIMER "timer" Counter Count "Threads found waiting for time to pass";
        FILE "file" Counter Count "Threads found waiting for a file or its lock";
        OTHER "other" Counter Count "Threads found waiting for anything else";
    }

    listener = Listener {
        PID "pid" Gauge Pid "Process that opened the socket";
        QUEUE "queue" Gauge Count "Connections not yet accepted";
        QUEUE_LIMIT "queue_limit" Gauge Count "Connections that may wait to be accepted";
        ESTABLISHED "established" Gauge Count "Established connections, accepted or not";
        UNREAD "unread" Gauge Count "Established connections with bytes that are not yet read";
    }

    peers = Peers {}

    other_processes = OtherProcesses {
        CPU_US "cpu_us" Counter Us "CPU time";
    }

    descriptors = Descriptors {
        OPEN "open" Gauge Count "Open file descriptors";
        LIMIT "limit" Gauge Count "Soft limit of file descriptors";
    }

    probe = Probe {
        CPU_US "cpu_us" Counter Us "CPU time of the probe's threads";
    }

    nginx = Nginx {
        ACCEPTS "accepts" Counter Count "Connections accepted";
        HANDLED "handled" Counter Count "Connections handled; `worker_connections` turned the others away";
        REQUESTS "requests" Counter Count "Requests, each sample one of them";
        ACTIVE "active" Gauge Count "Open connections";
        READING "reading" Gauge Count "Connections whose request head is being read";
        WRITING "writing" Gauge Count "Connections with a request in progress";
        WAITING "waiting" Gauge Count "Idle connections";
    }

    redis = Redis {
        COMMANDS "commands" Counter Count "Commands, each sample one of them";
        CONNECTIONS "connections" Counter Count "Connections accepted";
        REJECTED_CONNECTIONS "rejected_connections" Counter Count "Connections rejected at `maxclients`";
        CPU_US "cpu_us" Counter Us "CPU time of the process";
        MAIN_THREAD_CPU_US "main_thread_cpu_us" Counter Us "CPU time of the thread that runs all commands; not in old versions";
        CONNECTED_CLIENTS "connected_clients" Gauge Count "Clients";
        BLOCKED_CLIENTS "blocked_clients" Gauge Count "Clients blocked in a command";
        MAX_CLIENTS "max_clients" Gauge Count "Limit of clients";
        USED_MEMORY_BYTES "used_memory_bytes" Gauge Bytes "Memory in use";
        MAXMEMORY_BYTES "maxmemory_bytes" Gauge Bytes "Limit of memory; without one left out";
        EVICTED_KEYS "evicted_keys" Counter Count "Keys evicted";
        KEYSPACE_HITS "keyspace_hits" Counter Count "Keys looked up and found";
        KEYSPACE_MISSES "keyspace_misses" Counter Count "Keys looked up and not found";
        RECEIVED_BYTES "received_bytes" Counter Bytes "Received";
        SENT_BYTES "sent_bytes" Counter Bytes "Sent";
        DELAYED_FSYNCS "delayed_fsyncs" Counter Count "Delayed fsyncs of the append-only file";
    }

    memcached = Memcached {
        COMMANDS_GET "commands_get" Counter Count "Gets";
        COMMANDS_SET "commands_set" Counter Count "Sets";
        GET_HITS "get_hits" Counter Count "Gets that found the key";
        GET_MISSES "get_misses" Counter Count "Gets that did not find the key";
        EVICTIONS "evictions" Counter Count "Items evicted";
        CPU_US "cpu_us" Counter Us "CPU time of the process";
        THREADS "threads" Gauge Count "Worker threads";
        CURR_CONNECTIONS "curr_connections" Gauge Count "Open connections";
        MAX_CONNECTIONS "max_connections" Gauge Count "Limit of connections";
        CONNECTIONS "connections" Counter Count "Connections accepted";
        REJECTED_CONNECTIONS "rejected_connections" Counter Count "Connections rejected";
        LISTEN_DISABLED "listen_disabled" Counter Count "Times that it stopped accepting at its limit of connections";
        CONNECTION_YIELDS "connection_yields" Counter Count "Times that a connection had to let others go first";
        ITEMS_BYTES "items_bytes" Gauge Bytes "Bytes of items";
        LIMIT_BYTES "limit_bytes" Gauge Bytes "Limit of memory";
        RECEIVED_BYTES "received_bytes" Counter Bytes "Received";
        SENT_BYTES "sent_bytes" Counter Bytes "Sent";
    }

    mariadb = Mariadb {
        QUESTIONS "questions" Counter Count "Statements of clients, each sample two of them";
        COMMITS "commits" Counter Count "Commits";
        CONNECTIONS "connections" Counter Count "Connections attempted";
        THREADS_RUNNING "threads_running" Gauge Count "Threads that run a statement";
        THREADS_CONNECTED "threads_connected" Gauge Count "Open connections";
        MAX_CONNECTIONS "max_connections" Gauge Count "Limit of connections";
        THREADS_CREATED "threads_created" Counter Count "Threads created";
        SLOW_QUERIES "slow_queries" Counter Count "Statements slower than `long_query_time`";
        TABLE_LOCKS_WAITED "table_locks_waited" Counter Count "Table locks that were waited for";
        INNODB_ROW_LOCK_TIME_MS "innodb_row_lock_time_ms" Counter Ms "Time waited for row locks, summed over threads";
        INNODB_ROW_LOCK_WAITS "innodb_row_lock_waits" Counter Count "Waits for row locks";
        INNODB_ROW_LOCK_CURRENT_WAITS "innodb_row_lock_current_waits" Gauge Count "Row locks that are waited for now";
        INNODB_OS_LOG_FSYNCS "innodb_os_log_fsyncs" Counter Count "fsyncs of the redo log (until MariaDB 10.8)";
        INNODB_OS_LOG_WRITTEN_BYTES "innodb_os_log_written_bytes" Counter Bytes "Written to the redo log";
        INNODB_DATA_FSYNCS "innodb_data_fsyncs" Counter Count "fsyncs of InnoDB";
        INNODB_LOG_WAITS "innodb_log_waits" Counter Count "Waits for room in the log buffer";
        INNODB_BUFFER_POOL_WAIT_FREE "innodb_buffer_pool_wait_free" Counter Count "Waits for a free page of the buffer pool";
        INNODB_BUFFER_POOL_BYTES "innodb_buffer_pool_bytes" Gauge Bytes "Size of the buffer pool";
        ABORTED_CONNECTS "aborted_connects" Counter Count "Connections that failed";
        CONNECTION_ERRORS_MAX_CONNECTIONS "connection_errors_max_connections" Counter Count "Connections refused at `max_connections`";
        RECEIVED_BYTES "received_bytes" Counter Bytes "Received";
        SENT_BYTES "sent_bytes" Counter Bytes "Sent";
    }

    go = Go {
        GOROUTINES "goroutines" Gauge Count "Goroutines";
        GC_CYCLES "gc_cycles" Counter Count "Garbage collections";
        GC_PAUSE_US "gc_pause_us" Counter Us "Time paused to collect garbage";
        HEAP_BYTES "heap_bytes" Gauge Bytes "Heap in use";
        HEAP_RESERVED_BYTES "heap_reserved_bytes" Gauge Bytes "Heap reserved from the system";
        NEXT_GC_BYTES "next_gc_bytes" Gauge Bytes "Heap size at which the next collection begins";
        ALLOCATED_BYTES "allocated_bytes" Counter Bytes "Allocated";
        ALLOCATIONS "allocations" Counter Count "Allocations";
        SYSTEM_BYTES "system_bytes" Gauge Bytes "Memory obtained from the system";
    }

    jvm = Jvm {
        GC_COUNT "gc_count" Counter Count "Garbage collections, of all collectors";
        GC_TIME_MS "gc_time_ms" Counter Ms "Time in garbage collections; of a concurrent collector only its pauses";
        HEAP_USED_BYTES "heap_used_bytes" Gauge Bytes "Heap in use; with G1 as of the last collection or change of phase";
        HEAP_MAX_BYTES "heap_max_bytes" Gauge Bytes "Limit of the heap";
        THREADS "threads" Gauge Count "Live threads";
        THREADS_STARTED "threads_started" Counter Count "Threads started";
        REQUEST_THREADS_BUSY "request_threads_busy" Gauge Count "Request threads of Tomcat that are busy";
        REQUEST_THREADS "request_threads" Gauge Count "Request threads of Tomcat";
        REQUEST_THREADS_MAX "request_threads_max" Gauge Count "Limit of Tomcat's request threads";
        POOL_ACTIVE "pool_active" Gauge Count "Connections of HikariCP pools in use";
        POOL_PENDING "pool_pending" Gauge Count "Threads that wait for a connection of a HikariCP pool";
        POOL_MAX "pool_max" Gauge Count "Limit of connections of HikariCP pools";
    }

    prometheus = Prometheus {
        ROWS_LEFT_OUT "rows_left_out" Gauge Count "Rows of the page beyond the limit, which are not recorded";
    }

    declared = Declared {
        CORES_MILLI "cores_milli" Gauge Millicores "Cores";
        LINK_OUT_BITS_PER_SEC "link_out_bits_per_sec" Gauge BitsPerSec "Speed of the link out of the host";
        LINK_IN_BITS_PER_SEC "link_in_bits_per_sec" Gauge BitsPerSec "Speed of the link into the host";
        PACKETS_PER_SEC "packets_per_sec" Gauge PacketsPerSec "Packets, each way";
        MEMORY_BYTES "memory_bytes" Gauge Bytes "Memory";
        DISK_BYTES_PER_SEC "disk_bytes_per_sec" Gauge BytesPerSec "Reads of the disk, and as many writes";
    }

    intervention = Intervention {
        BEFORE_CORES_MILLI "before_cores_milli" Gauge Millicores "Cores before";
        AFTER_CORES_MILLI "after_cores_milli" Gauge Millicores "Cores afterwards";
        BEFORE_BITS_PER_SEC "before_bits_per_sec" Gauge BitsPerSec "Speed of the link before";
        AFTER_BITS_PER_SEC "after_bits_per_sec" Gauge BitsPerSec "Speed of the link afterwards";
        BEFORE_PACKETS_PER_SEC "before_packets_per_sec" Gauge PacketsPerSec "Packets before";
        AFTER_PACKETS_PER_SEC "after_packets_per_sec" Gauge PacketsPerSec "Packets afterwards";
        BEFORE_BYTES "before_bytes" Gauge Bytes "Memory before";
        AFTER_BYTES "after_bytes" Gauge Bytes "Memory afterwards";
        BEFORE_BYTES_PER_SEC "before_bytes_per_sec" Gauge BytesPerSec "Speed of the disk before";
        AFTER_BYTES_PER_SEC "after_bytes_per_sec" Gauge BytesPerSec "Speed of the disk afterwards";
    }
}
