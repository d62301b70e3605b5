//! The samples of hosts by subject, and what is computed from them.
//!
//! `tracks` sorts the samples and relates them to the steps; `track` reads one of them over time; `usage` computes how
//! much of each `resource` a step used, and `demand` how much of it a request uses; `topology` follows connections
//! from process to process; `host_view` lists the other reports of a host; `curves` are garbage collection, stalls and waits
//! over time, for pages.

pub(crate) mod curves;
pub(crate) mod demand;
pub(crate) mod host_view;
pub(crate) mod resource;
pub(crate) mod topology;
pub(crate) mod track;
pub(crate) mod tracks;
pub(crate) mod usage;
pub(crate) mod utilisation;
