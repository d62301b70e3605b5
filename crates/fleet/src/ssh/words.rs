//! What both sides of an ssh session say.

/// The first word of the line with which a host says that its agent runs.
pub(super) const STARTED: &str = "plimsoll-agent-started";
/// The conductor's word that agents are to outlive the session.
pub(super) const KEEP: &str = "keep";
/// What a host says of its agent.
pub(super) const STATUS: &str = "plimsoll-agent";
