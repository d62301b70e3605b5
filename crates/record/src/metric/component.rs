//! Metrics that components report about themselves.

use super::row::metrics;

metrics! {
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
}
