//! Request bodies: sent as far as the windows allow, the rest kept until they widen.

use super::frame;
use super::streams::Stream;

/// What of a body waits for the server to grant more.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) stream: u32,
    pub(super) body: Vec<u8>,
    pub(super) sent: usize,
}

/// The limits that all streams of a connection share.
#[derive(Debug)]
pub(super) struct Allowance<'a> {
    /// What may still be sent on the connection.
    pub(super) send_left: &'a mut i32,
    /// The longest payload that the server takes.
    pub(super) frame_bytes: u32,
}

/// Writes DATA frames as the windows of connection and stream allow and says how many bytes of the
/// body went; the last frame ends the stream.
pub(super) fn push_body(
    stream: &mut Stream,
    body: &[u8],
    allowance: &mut Allowance<'_>,
    out: &mut Vec<u8>,
) -> usize {
    let mut sent = 0;
    while sent < body.len() {
        let window = stream.send_left.min(*allowance.send_left);
        let allowed = u32::try_from(window).unwrap_or(0).min(allowance.frame_bytes);
        let piece = &body[sent..body.len().min(sent + allowed as usize)];
        if piece.is_empty() {
            break;
        }
        sent += piece.len();
        let end = if sent == body.len() { frame::END_STREAM } else { 0 };
        frame::push_header(out, piece.len(), frame::DATA, end, stream.id);
        out.extend_from_slice(piece);
        // A piece is no longer than the windows, which are of this type.
        let taken = i32::try_from(piece.len()).unwrap_or(i32::MAX);
        stream.send_left -= taken;
        *allowance.send_left -= taken;
    }
    stream.sent = sent == body.len();
    sent
}
