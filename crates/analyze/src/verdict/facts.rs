//! Facts that several rules use, each computed in one place: who uses a resource, which requests wait where, how many requests
//! are served at once. Facts judge nothing.

pub(super) mod attribution;
pub(super) mod concurrency;
pub(super) mod cpu;
pub(super) mod queue;
pub(super) mod rows;
pub(super) mod served;
pub(super) mod spent;
pub(super) mod threads;
