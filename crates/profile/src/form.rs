//! The forms of a profile in a run, each of which may be packed.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use plimsoll_record::ProfileForm;

use crate::{ProfileError, Stacks, perf, pprof};

/// A profile of many seconds and threads has some megabytes.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;

/// What each gzip stream begins with (RFC 1952, 2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads a profile in the form in which a run keeps it.
///
/// # Errors
/// When it is damaged, not of this form, too large, or holds no CPU time.
pub fn parse(form: ProfileForm, content: &[u8]) -> Result<Stacks, ProfileError> {
    let content = unpacked(content)?;
    match form {
        ProfileForm::Pprof => pprof::parse(&content),
        ProfileForm::Perf => perf::parse(&content),
    }
}

/// The content, unpacked if it is packed. pprof allows both.
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

/// A text as gzip: stacks repeat each other, so that a tenth of it is left.
///
/// # Errors
/// None in memory; the writer's interface has them.
pub fn pack(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}
