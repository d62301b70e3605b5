//! Where a worker's requests come from.

use std::time::Duration;

use crate::traffic::{Answer, Curiosity, FixedRequest, Judgement, Note, RequestSource, SourceFault};

/// The requests of one worker.
pub(crate) enum Requests {
    Fixed(FixedRequest),
    Made(Box<dyn RequestSource>),
}

/// The requests of one worker, and whether there are more.
pub(super) struct Source {
    pub(super) requests: Requests,
    /// It makes no more requests, because it wants no more or because it failed.
    pub(super) stopped: bool,
    fault: Option<SourceFault>,
}

impl Source {
    pub(super) fn new(requests: Requests) -> Self {
        Self { requests, stopped: false, fault: None }
    }

    pub(super) fn curiosity(&self) -> Curiosity {
        match &self.requests {
            Requests::Fixed(_) => Curiosity::Nothing,
            Requests::Made(source) => source.curiosity(),
        }
    }

    /// The length of the request, if it is the same each time.
    pub(super) fn fixed_bytes(&self) -> Option<u32> {
        match &self.requests {
            Requests::Fixed(request) => Some(request.bytes.len() as u32),
            Requests::Made(_) => None,
        }
    }

    /// Requests that are sent together.
    pub(super) fn batch(&self) -> u16 {
        match &self.requests {
            Requests::Fixed(_) => 1,
            Requests::Made(source) => source.batch().max(1),
        }
    }

    /// The next request, appended to `out` if it is not fixed; `None` if there are no more.
    #[inline]
    pub(super) fn write(&mut self, out: &mut Vec<u8>) -> Option<Note> {
        match &mut self.requests {
            Requests::Fixed(request) => Some(request.note),
            Requests::Made(source) => {
                let made = source.write(out);
                self.heed(made)
            }
        }
    }

    /// The pause before the next request.
    pub(super) fn pause(&mut self) -> Duration {
        let Requests::Made(source) = &mut self.requests else { return Duration::ZERO };
        let pause = source.pause();
        self.heed(pause).unwrap_or_default()
    }

    pub(super) fn answered(&mut self, request: u16, answer: &Answer<'_>) -> Judgement {
        let Requests::Made(source) = &mut self.requests else { return Judgement::ByStatus };
        let judgement = source.answered(request, answer);
        self.heed(judgement).unwrap_or(Judgement::ByStatus)
    }

    /// Sees whether the source goes on after a call of it.
    fn heed<T>(&mut self, result: Result<T, SourceFault>) -> Option<T> {
        let Requests::Made(source) = &self.requests else { return result.ok() };
        self.stopped |= source.stopped() || result.is_err();
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fault.get_or_insert(fault);
                None
            }
        }
    }

    /// Why it failed, told once.
    pub(super) fn take_fault(&mut self) -> Option<SourceFault> {
        self.fault.take()
    }
}
