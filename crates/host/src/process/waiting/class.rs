//! Wait classes of threads, by the kernel function that a thread waits in.

use plimsoll_record::Metric;
use plimsoll_record::metric::waiting;

/// What a thread waits for. The metrics describe each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Futex,
    Epoll,
    Accept,
    SocketRead,
    SocketWrite,
    Pipe,
    Timer,
    File,
    Other,
}

/// The metric that counts the threads of each class, in the order of [`Class`].
pub(super) const METRICS: [Metric; 9] = [
    waiting::FUTEX,
    waiting::EPOLL,
    waiting::ACCEPT,
    waiting::SOCKET_READ,
    waiting::SOCKET_WRITE,
    waiting::PIPE,
    waiting::TIMER,
    waiting::FILE,
    waiting::OTHER,
];

/// Beginnings of function names. Names differ between kernel versions, but rarely in their first words.
const BEGINNINGS: &[(&str, Class)] = &[
    ("futex_", Class::Futex),
    ("do_futex", Class::Futex),
    ("rt_mutex_", Class::Futex),
    ("do_epoll_", Class::Epoll),
    ("ep_poll", Class::Epoll),
    ("sys_epoll_", Class::Epoll),
    ("do_sys_poll", Class::Epoll),
    ("do_poll", Class::Epoll),
    ("do_select", Class::Epoll),
    ("poll_schedule", Class::Epoll),
    ("core_sys_select", Class::Epoll),
    ("io_cqring_wait", Class::Epoll),
    ("inet_csk_accept", Class::Accept),
    ("inet_csk_wait_for_connect", Class::Accept),
    ("unix_accept", Class::Accept),
    ("sk_wait_data", Class::SocketRead),
    ("tcp_recvmsg", Class::SocketRead),
    ("tcp_data_wait", Class::SocketRead),
    ("unix_stream_read", Class::SocketRead),
    ("unix_stream_data_wait", Class::SocketRead),
    ("unix_dgram_recv", Class::SocketRead),
    ("__skb_wait_for_more", Class::SocketRead),
    ("inet_wait_for_connect", Class::SocketWrite),
    ("inet_stream_connect", Class::SocketWrite),
    ("__inet_stream_connect", Class::SocketWrite),
    ("sk_stream_wait", Class::SocketWrite),
    ("tcp_sendmsg", Class::SocketWrite),
    ("sock_alloc_send", Class::SocketWrite),
    ("sock_wait_for_wmem", Class::SocketWrite),
    ("unix_wait_for_peer", Class::SocketWrite),
    ("pipe_", Class::Pipe),
    ("anon_pipe_", Class::Pipe),
    ("fifo_", Class::Pipe),
    ("wait_for_partner", Class::Pipe),
    ("hrtimer_nanosleep", Class::Timer),
    ("do_nanosleep", Class::Timer),
    ("common_nsleep", Class::Timer),
    ("locks_lock_", Class::File),
    ("flock_lock_", Class::File),
    ("fcntl_setlk", Class::File),
    ("do_lock_file_wait", Class::File),
    ("io_schedule", Class::File),
    ("bit_wait", Class::File),
    ("folio_wait", Class::File),
    ("wait_on_page", Class::File),
    ("filemap_", Class::File),
    ("blk_", Class::File),
    ("submit_bio_wait", Class::File),
    ("rq_qos_wait", Class::File),
    ("jbd2_", Class::File),
    ("ext4_", Class::File),
    ("xfs_", Class::File),
    ("btrfs_", Class::File),
    ("request_wait_answer", Class::File),
    ("nfs_", Class::File),
    ("rpc_wait", Class::File),
];

/// The function in which newer kernels wait for a socket, both to read and to write.
const SOCKET: &str = "wait_woken";

/// The system calls that write to a socket, by the numbers of this architecture.
const WRITES: [i64; 7] = [
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendfile,
    libc::SYS_splice,
];

impl Class {
    /// Returns the class of a kernel function; `None` if only the system call decides it.
    pub(super) fn from_function(function: &str) -> Option<Self> {
        let found = BEGINNINGS.iter().find(|(beginning, _)| function.starts_with(beginning));
        (function != SOCKET).then(|| found.map_or(Self::Other, |(_, class)| *class))
    }

    /// Returns the class of a thread that waits for a socket in this system call. Most threads wait to read.
    pub(super) fn from_call(call: Option<i64>) -> Self {
        let writes = call.is_some_and(|call| WRITES.contains(&call));
        if writes { Self::SocketWrite } else { Self::SocketRead }
    }

    /// Whether a thread of this class is always in state `S`, and never in `D`.
    pub(super) fn can_be_interrupted(self) -> bool {
        !matches!(self, Self::File | Self::Other)
    }
}
