//! Responses kept for a source that wants to look into them.

use plimsoll_http::{Response, dissect};

use crate::traffic::{Answer, BODY_KEPT_MOST_BYTES, Curiosity};

/// Keeps the bytes of responses while they arrive, if anybody wants to see them.
#[derive(Debug)]
pub(super) struct Observer {
    curiosity: Curiosity,
    /// What came of each connection's response so far.
    kept: Vec<Vec<u8>>,
    scratch: Vec<u8>,
}

/// What a head may add to the longest body.
const KEPT_MOST_BYTES: usize = BODY_KEPT_MOST_BYTES + 64 * 1024;

impl Observer {
    pub(super) fn new(curiosity: Curiosity) -> Self {
        Self { curiosity, kept: Vec::new(), scratch: Vec::new() }
    }

    pub(super) fn wants_outcome(&self) -> bool {
        self.curiosity >= Curiosity::Outcome
    }

    pub(super) fn wants_bytes(&self) -> bool {
        self.curiosity == Curiosity::Everything
    }

    /// Bytes of a connection's response came.
    pub(super) fn keep(&mut self, slot: usize, bytes: &[u8]) {
        if self.kept.len() <= slot {
            self.kept.resize_with(slot + 1, Vec::new);
        }
        let kept = &mut self.kept[slot];
        let room = KEPT_MOST_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The response on a connection is over, or will never be.
    pub(super) fn forget(&mut self, slot: usize) {
        if let Some(kept) = self.kept.get_mut(slot) {
            kept.clear();
        }
    }

    /// Shows the response on a connection, which is complete.
    pub(super) fn show<R>(
        &mut self,
        slot: usize,
        response: Response,
        mut look: impl FnMut(&Answer<'_>) -> R,
    ) -> R {
        let Response { status, body_bytes, .. } = response;
        let raw = self.kept.get(slot).map(Vec::as_slice).unwrap_or_default();
        let seen = dissect(raw, &mut self.scratch, |fields, body| {
            let body = &body[..body.len().min(BODY_KEPT_MOST_BYTES)];
            look(&Answer { status, fields, body, body_bytes })
        });
        seen.unwrap_or_else(|| look(&Answer { status, fields: &[], body: &[], body_bytes }))
    }
}
