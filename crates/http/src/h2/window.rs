//! Flow control (RFC 9113 sections 5.2 and 6.9): how many bytes each side may still send.

use super::error::Broken;

/// Initial size of a window in bytes.
pub(super) const DEFAULT_BYTES: u32 = 65_535;
pub(super) const MAX_BYTES: u32 = 0x7fff_ffff;

/// Number of bytes that the peer may still send, and that it has used since the last window update.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceiveWindow {
    left: u32,
    used: u32,
}

impl ReceiveWindow {
    pub(super) const fn new(bytes: u32) -> Self {
        Self { left: bytes, used: 0 }
    }

    /// Accounts for a frame of this many bytes that begins to arrive.
    pub(super) fn charge(&mut self, bytes: u32) -> Result<(), Broken> {
        self.left = self.left.checked_sub(bytes).ok_or(Broken::FlowControl)?;
        Ok(())
    }

    /// Accounts for a frame of this many bytes that was read. Once half of a window of `size` bytes is used, returns the
    /// increment that restores it; so updates are rare.
    pub(super) fn release(&mut self, bytes: u32, size: u32) -> Option<u32> {
        self.used += bytes;
        if self.used == 0 || self.used < size / 2 {
            return None;
        }
        self.left += self.used;
        Some(std::mem::take(&mut self.used))
    }
}

pub(super) fn widen(send_left: &mut i32, increment: u32) -> Result<(), Broken> {
    let increment = i32::try_from(increment).map_err(|_| Broken::FlowControl)?;
    *send_left = send_left.checked_add(increment).ok_or(Broken::FlowControl)?;
    Ok(())
}

/// The peer changed the initial size of stream windows (RFC 9113 section 6.9.2): the window changes by the same amount, possibly
/// to a negative value.
pub(super) fn shift(send_left: &mut i32, before: u32, after: u32) -> Result<(), Broken> {
    let moved = i64::from(*send_left) + i64::from(after) - i64::from(before);
    *send_left = i32::try_from(moved).map_err(|_| Broken::FlowControl)?;
    Ok(())
}
