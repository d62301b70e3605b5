//! Packing and unpacking.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::ProfileError;

/// A profile of many seconds and threads has some megabytes.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;

/// What each gzip stream begins with (RFC 1952, 2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The content, unpacked if it is packed. pprof allows both.
pub(crate) fn unpacked(content: &[u8]) -> Result<Cow<'_, [u8]>, ProfileError> {
    if !content.starts_with(&MAGIC) {
        return Ok(Cow::Borrowed(content));
    }
    let mut bytes = Vec::new();
    MultiGzDecoder::new(content).take(MAX_UNPACKED_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_UNPACKED_BYTES {
        return Err(ProfileError::TooLarge { most_bytes: MAX_UNPACKED_BYTES });
    }
    Ok(Cow::Owned(bytes))
}

/// A text as gzip: stacks repeat each other, so that a tenth of it is left.
///
/// # Errors
/// None in memory; the writer's interface has them.
pub fn pack(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}
