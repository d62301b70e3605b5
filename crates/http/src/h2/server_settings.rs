//! The server's SETTINGS (RFC 9113 section 6.5.2).

use super::error::Broken;
use super::frame;
use super::window;

/// Limit of streams until the server sends its own; RFC 9113 recommends that servers allow at least this many.
const STREAMS_BEFORE_SETTINGS: u32 = 100;
/// Initial size of the header compression table on both sides, in bytes.
const DEFAULT_TABLE_BYTES: u32 = 4096;

pub(super) const HEADER_TABLE_SIZE: u16 = 0x1;
pub(super) const ENABLE_PUSH: u16 = 0x2;
pub(super) const MAX_CONCURRENT_STREAMS: u16 = 0x3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 0x4;
pub(super) const MAX_FRAME_SIZE: u16 = 0x5;

#[derive(Debug, Clone, Copy)]
pub(super) struct ServerSettings {
    table_bytes: u32,
    /// True if the table shrank: the next header block must acknowledge that (RFC 7541 section 4.2).
    pub(super) table_shrank: bool,
    pub(super) known: bool,
    pub(super) max_streams: u32,
    pub(super) window_bytes: u32,
    pub(super) frame_bytes: u32,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            table_bytes: DEFAULT_TABLE_BYTES,
            table_shrank: false,
            known: false,
            max_streams: STREAMS_BEFORE_SETTINGS,
            window_bytes: window::DEFAULT_BYTES,
            frame_bytes: frame::MAX_PAYLOAD_BYTES,
        }
    }
}

impl ServerSettings {
    /// Applies a payload of complete settings; later ones override earlier ones, unknown ones are ignored.
    pub(super) fn apply(&mut self, payload: &[u8]) -> Result<(), Broken> {
        if !self.known {
            self.known = true;
            self.max_streams = u32::MAX;
        }
        let (settings, _) = payload.as_chunks::<6>();
        for [i0, i1, v0, v1, v2, v3] in settings {
            self.set(u16::from_be_bytes([*i0, *i1]), u32::from_be_bytes([*v0, *v1, *v2, *v3]))?;
        }
        Ok(())
    }

    fn set(&mut self, identifier: u16, value: u32) -> Result<(), Broken> {
        match identifier {
            HEADER_TABLE_SIZE => {
                self.table_shrank |= value < self.table_bytes;
                self.table_bytes = value;
            }
            // A client does not accept pushes, so the only value a server may send is 0.
            ENABLE_PUSH if value != 0 => return Err(Broken::Settings),
            MAX_CONCURRENT_STREAMS => self.max_streams = value,
            INITIAL_WINDOW_SIZE if value > window::MAX_BYTES => return Err(Broken::FlowControl),
            INITIAL_WINDOW_SIZE => self.window_bytes = value,
            MAX_FRAME_SIZE if !(frame::MAX_PAYLOAD_BYTES..1 << 24).contains(&value) => {
                return Err(Broken::Settings);
            }
            MAX_FRAME_SIZE => self.frame_bytes = value,
            _ => {}
        }
        Ok(())
    }
}
