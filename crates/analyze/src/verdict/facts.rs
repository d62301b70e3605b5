//! What several rules rest on, computed once for each question: whose a use is, who waits where, how many requests are
//! served at once. Facts judge nothing.

pub(super) mod attribution;
pub(super) mod concurrency;
pub(super) mod cpu;
pub(super) mod queue;
pub(super) mod rows;
pub(super) mod served;
pub(super) mod spent;
pub(super) mod threads;
