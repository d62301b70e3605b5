//! Responses kept for a source that wants to look into them.

use plimsoll_http::{Field, Response, dissect};

use crate::traffic::{Answer, BODY_KEPT_MOST_BYTES, Curiosity};

/// Keeps the bytes of responses while they arrive, if anybody wants to see them.
#[derive(Debug)]
pub(super) struct Observer {
    curiosity: Curiosity,
    /// What came of the response to the request in each place so far.
    kept: Vec<Kept>,
    scratch: Vec<u8>,
}

/// What came of one response.
#[derive(Debug, Default)]
struct Kept {
    /// In HTTP/1.1 the whole of it, in HTTP/2 its body.
    bytes: Vec<u8>,
    /// In HTTP/2 the names and values of its fields, one after another.
    fields: Vec<u8>,
    /// Where in `fields` each name and its value end.
    ends: Vec<(u32, u32)>,
}

/// What a head may add to the longest body.
const KEPT_MOST_BYTES: usize = BODY_KEPT_MOST_BYTES + 64 * 1024;
/// More fields of one response are not shown.
const FIELDS_MOST: usize = 256;

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

    fn at(&mut self, place: usize) -> &mut Kept {
        if self.kept.len() <= place {
            self.kept.resize_with(place + 1, Kept::default);
        }
        &mut self.kept[place]
    }

    /// Bytes of a response came.
    pub(super) fn keep(&mut self, place: usize, bytes: &[u8]) {
        let kept = &mut self.at(place).bytes;
        let room = KEPT_MOST_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// A header field of a response came by itself.
    pub(super) fn keep_field(&mut self, place: usize, name: &[u8], value: &[u8]) {
        let kept = self.at(place);
        if kept.ends.len() == FIELDS_MOST || std::str::from_utf8(name).is_err() {
            return;
        }
        kept.fields.extend_from_slice(name);
        let name_end = kept.fields.len() as u32;
        kept.fields.extend_from_slice(value);
        kept.ends.push((name_end, kept.fields.len() as u32));
    }

    /// The response is over, or will never be.
    pub(super) fn forget(&mut self, place: usize) {
        if let Some(kept) = self.kept.get_mut(place) {
            kept.bytes.clear();
            kept.fields.clear();
            kept.ends.clear();
        }
    }

    /// Shows a response that is complete.
    pub(super) fn show<R>(
        &mut self,
        place: usize,
        response: Response,
        streams: bool,
        mut look: impl FnMut(&Answer<'_>) -> R,
    ) -> R {
        let Response { status, body_bytes, .. } = response;
        let mut show = |fields: &[Field<'_>], body: &[u8]| {
            let body = &body[..body.len().min(BODY_KEPT_MOST_BYTES)];
            look(&Answer { status, fields, body, body_bytes })
        };
        match self.kept.get(place) {
            None => show(&[], &[]),
            Some(kept) if streams => kept.with_fields(|fields| show(fields, &kept.bytes)),
            Some(kept) => {
                let shown = dissect(&kept.bytes, &mut self.scratch, &mut show);
                shown.unwrap_or_else(|| show(&[], &[]))
            }
        }
    }
}

impl Kept {
    fn with_fields<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
        let mut fields = [Field { name: "", value: &[] }; FIELDS_MOST];
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
