//! One rule per file: what must be observed to suspect one kind of limit.
//!
//! A rule reads facts and returns candidates. Rules do not know each other: `decide` chooses the verdict among the candidates,
//! and decides which of them displaces another.

pub(super) mod closed;
pub(super) mod connections;
pub(super) mod cpu;
pub(super) mod dependency;
pub(super) mod disk;
pub(super) mod figures;
pub(super) mod link;
pub(super) mod lock;
pub(super) mod memory;
pub(super) mod other_processes;
pub(super) mod pool;
pub(super) mod quota;
pub(super) mod refused;
pub(super) mod rows;
pub(super) mod thread;
