//! One rule a file: what must be seen to suspect one kind of limit.

pub(super) mod closed;
pub(super) mod connections;
pub(super) mod dependency;
pub(super) mod disk;
pub(super) mod link;
pub(super) mod lock;
pub(super) mod memory;
pub(super) mod neighbour;
pub(super) mod pool;
pub(super) mod processor;
pub(super) mod queue;
pub(super) mod quota;
pub(super) mod refused;
pub(super) mod thread;
