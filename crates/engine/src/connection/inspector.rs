//! Keeps responses for a request source that inspects them.

use plimsoll_http::{Field, Response, dissect};

use crate::requests::{MAX_KEPT_BODY_BYTES, ResponseInterest, ResponseView};

/// Maximum number of bytes kept of one HTTP/1.1 response: the longest body and a head.
const MAX_KEPT_BYTES: usize = MAX_KEPT_BODY_BYTES + 64 * 1024;
/// Maximum number of fields kept of one response.
const MAX_FIELDS: usize = 256;

/// Keeps the bytes of responses while they arrive, if the source inspects them.
#[derive(Debug)]
pub(super) struct Inspector {
    interest: ResponseInterest,
    /// The received part of each response, indexed by the request's position in the ledger.
    kept: Vec<CapturedResponse>,
    scratch: Vec<u8>,
}

/// The received part of one response.
#[derive(Debug, Default)]
struct CapturedResponse {
    /// For HTTP/1.1 the whole response, for HTTP/2 its body.
    bytes: Vec<u8>,
    /// For HTTP/2 the names and values of its fields, one after another.
    fields: Vec<u8>,
    /// For each field, where its name and its value end in `fields`.
    ends: Vec<(u32, u32)>,
}

impl Inspector {
    pub(super) fn new(interest: ResponseInterest) -> Self {
        Self { interest, kept: Vec::new(), scratch: Vec::new() }
    }

    pub(super) fn wants_outcome(&self) -> bool {
        self.interest >= ResponseInterest::Outcome
    }

    pub(super) fn wants_bytes(&self) -> bool {
        self.interest == ResponseInterest::Full
    }

    fn entry(&mut self, position: usize) -> &mut CapturedResponse {
        if self.kept.len() <= position {
            self.kept.resize_with(position + 1, CapturedResponse::default);
        }
        &mut self.kept[position]
    }

    /// Appends received bytes of a response.
    pub(super) fn keep(&mut self, position: usize, bytes: &[u8]) {
        let kept = &mut self.entry(position).bytes;
        let room = MAX_KEPT_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Appends one header field, as HTTP/2 delivers them.
    pub(super) fn keep_field(&mut self, position: usize, name: &[u8], value: &[u8]) {
        let kept = self.entry(position);
        if kept.ends.len() == MAX_FIELDS || std::str::from_utf8(name).is_err() {
            return;
        }
        kept.fields.extend_from_slice(name);
        let name_end = kept.fields.len() as u32;
        kept.fields.extend_from_slice(value);
        kept.ends.push((name_end, kept.fields.len() as u32));
    }

    /// Drops the kept part of a response that is complete or will never be.
    pub(super) fn forget(&mut self, position: usize) {
        if let Some(kept) = self.kept.get_mut(position) {
            kept.bytes.clear();
            kept.fields.clear();
            kept.ends.clear();
        }
    }

    /// Passes a complete response to `look`. Over HTTP/2 (`streams`) its fields were kept separately.
    pub(super) fn show<R>(
        &mut self,
        position: usize,
        response: Response,
        streams: bool,
        mut look: impl FnMut(&ResponseView<'_>) -> R,
    ) -> R {
        let Response { status, body_bytes, keep_alive } = response;
        let mut show = |fields: &[Field<'_>], body: &[u8]| {
            let body = &body[..body.len().min(MAX_KEPT_BODY_BYTES)];
            look(&ResponseView { status, fields, body, body_bytes, keep_alive })
        };
        match self.kept.get(position) {
            None => show(&[], &[]),
            Some(kept) if streams => kept.with_fields(|fields| show(fields, &kept.bytes)),
            Some(kept) => {
                let shown = dissect(&kept.bytes, &mut self.scratch, &mut show);
                shown.unwrap_or_else(|| show(&[], &[]))
            }
        }
    }
}

impl CapturedResponse {
    fn with_fields<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
        let mut fields = [Field { name: "", value: &[] }; MAX_FIELDS];
        let mut begin = 0;
        for (field, (name_end, value_end)) in fields.iter_mut().zip(&self.ends) {
            let (name, value) = (begin..*name_end as usize, *name_end as usize..*value_end as usize);
            field.name = std::str::from_utf8(&self.fields[name]).unwrap_or_default();
            field.value = &self.fields[value];
            begin = *value_end as usize;
        }
        look(&fields[..self.ends.len()])
    }
}
