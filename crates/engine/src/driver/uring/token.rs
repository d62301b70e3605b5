//! The token of an operation: its kind, its slot, and the generation of the slot's socket.

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Connect = 1,
    Receive = 2,
    Discard = 3,
    /// A send that completes only if it fails.
    SilentSend = 4,
    /// A send of the fixed bytes whose progress is reported.
    SendFixed = 5,
    SendCopy = 6,
    /// A cancellation that found no operation.
    Cancel = 7,
}

/// The slot takes 32 bits and the generation 24. A completion could be mistaken for another socket's only if its slot was
/// reopened sixteen million times before it arrived.
pub(super) const GENERATIONS: u32 = 1 << 24;

#[inline]
pub(super) fn token(kind: Kind, generation: u32, slot: usize) -> u64 {
    ((kind as u64) << 56) | (u64::from(generation) << 32) | slot as u64
}

/// The kind, generation and slot of a token.
#[inline]
pub(super) fn parts(token: u64) -> (Kind, u32, usize) {
    let kind = match token >> 56 {
        1 => Kind::Connect,
        2 => Kind::Receive,
        3 => Kind::Discard,
        4 => Kind::SilentSend,
        5 => Kind::SendFixed,
        6 => Kind::SendCopy,
        _ => Kind::Cancel,
    };
    (kind, (token >> 32) as u32 & (GENERATIONS - 1), (token & u64::from(u32::MAX)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_keeps_its_parts() {
        let kinds = [Kind::Connect, Kind::Receive, Kind::Discard, Kind::SilentSend, Kind::SendFixed];
        for kind in kinds.into_iter().chain([Kind::SendCopy, Kind::Cancel]) {
            let last = (kind, GENERATIONS - 1, u32::MAX as usize);
            assert_eq!(parts(token(last.0, last.1, last.2)), last);
            assert_eq!(parts(token(kind, 0, 5)), (kind, 0, 5));
        }
    }
}
