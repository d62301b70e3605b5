//! Raw counters of a host, one file per source.
//!
//! A source reads one thing and gives samples: counters as the kernel keeps them, with the instants
//! between which they were read. Differences and rates are made by whoever reads the samples. The root
//! of the file tree is an argument, so tests bring trees of their own. Servers that tell about themselves are sources too
//! ([`component`]), and samples of another machine come as lines of text ([`stream`]).
//!
//! Sources of processes share a [`lookout`]: it finds the watched processes, follows their connections to others on the
//! same machine, and reads their threads and sockets once for all of them. What costs more on larger machines has a
//! [`pace`], so that a host is never burdened by being watched.

mod cgroup;
mod component;
mod conntrack;
mod cpu;
mod cpu_model;
mod cpu_times;
mod descriptors;
mod disk;
mod feed;
mod holders;
mod host;
mod interface;
mod listener;
mod lookout;
mod memory;
mod neighbours;
mod own_time;
mod pace;
mod peers;
mod ports;
mod pressure;
mod process;
mod process_stat;
mod roster;
mod round;
mod scheduler;
mod serving;
mod sight;
mod small_files;
mod sockets;
mod source;
mod stream;
mod tcp;
mod tcp_table;
mod thread;
mod threads;
mod unix_table;
mod waiting;
mod watched;

pub use component::{Component, Login, page_agent};
pub use cpu_model::cpu_model;
pub use cpu_times::{CpuTimes, Ran};
pub use feed::{Closed, Feed, Feeds, Line, LocalFeed, News, Outlet, StreamFeed, Told};
pub use host::Host;
pub use plimsoll_sys::CgroupPaths;
pub use serving::serving;
pub use stream::{Ender, Remote, SampleStream, Ssh, StreamClock, StreamError, opening_line, sample_line};
pub use watched::Watched;
