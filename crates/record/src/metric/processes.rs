//! Metrics of processes and their threads.

use super::row::metrics;

metrics! {
    process = Process {
        CPU_US "cpu_us" Counter Us "CPU time of all threads, those that ended included";
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
}
