//! The protocol of an ssh session between a conductor and a host.

/// First word of the line in which a host reports that its agent runs.
pub(super) const STARTED: &str = "plimsoll-agent-started";
/// Sent by the conductor so that agents outlive the session.
pub(super) const KEEP: &str = "keep";
/// First word of the line in which a host reports the state of its agent.
pub(super) const STATUS: &str = "plimsoll-agent";
