//! The formats of a profile in a run, each of which may be compressed.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use plimsoll_record::ProfileForm;

use crate::{ProfileError, Stacks, perf, pprof};

/// The maximum size of an uncompressed profile. Profiles of many seconds and threads have a few megabytes.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;

/// The first bytes of a gzip stream (RFC 1952, 2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Parses a profile in one of the formats in which a run stores it.
///
/// # Errors
/// When it is damaged, has another format, is too large, or contains no CPU time.
pub fn parse(form: ProfileForm, content: &[u8]) -> Result<Stacks, ProfileError> {
    let content = unpacked(content)?;
    match form {
        ProfileForm::Pprof => pprof::parse(&content),
        ProfileForm::Perf => perf::parse(&content),
    }
}

/// Returns the content, decompressed if necessary. pprof allows both.
fn unpacked(content: &[u8]) -> Result<Cow<'_, [u8]>, ProfileError> {
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

/// Compresses a text with gzip, to about a tenth: stacks repeat each other.
///
/// # Errors
/// Writing to memory does not fail; the error is part of the writer's interface.
pub fn pack(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}
