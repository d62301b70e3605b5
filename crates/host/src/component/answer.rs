//! Parses recorded answers of components: the same parsers as for a running server, without a connection.

use std::io::BufRead;

use plimsoll_record::{CounterSet, HostSample, Source, Subject};

use super::conversation::MAX_ANSWER_BYTES;
use super::error::ServerError;
use super::{expvar, jvm, memcached, nginx, prometheus, redis};
use crate::collector::{Missing, Read};

/// The format of a component's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// A page in Prometheus's text format.
    Prometheus,
    /// Redis's answer to INFO, a bulk string of RESP.
    Redis,
    /// memcached's answer to `stats`, up to `END`.
    Memcached,
    /// A Go program's expvar page.
    Expvar,
    /// nginx's `stub_status` page.
    Nginx,
    /// HotSpot's file of performance counters.
    Jvm,
}

impl AnswerForm {
    /// All forms, in the order of their declaration.
    pub const ALL: [Self; 6] =
        [Self::Prometheus, Self::Redis, Self::Memcached, Self::Expvar, Self::Nginx, Self::Jvm];

    /// Returns the source under which a failed read is reported.
    const fn source(self) -> Source {
        match self {
            Self::Prometheus => Source::Prometheus,
            Self::Redis => Source::Redis,
            Self::Memcached => Source::Memcached,
            Self::Expvar => Source::Go,
            Self::Nginx => Source::Nginx,
            Self::Jvm => Source::Jvm,
        }
    }
}

/// Parses an answer into samples, with `place` as their host and subject. Their times are 0. An answer that cannot be parsed
/// becomes a failed sample with the reason.
pub fn read_answer(form: AnswerForm, place: &str, answer: impl BufRead) -> Vec<HostSample> {
    let one = |counters: CounterSet| vec![Read::new(form.source(), Subject::Named(place), Ok(counters))];
    let reads = match form {
        AnswerForm::Redis => redis::read(answer.take(MAX_ANSWER_BYTES)).map(one),
        AnswerForm::Memcached => memcached::read(answer.take(MAX_ANSWER_BYTES)).map(one),
        _ => whole(answer).and_then(|bytes| read_whole(form, place, &bytes)),
    };
    let failed =
        |error: ServerError| vec![Read::new(form.source(), Subject::Named(place), Err(error.at(place)))];
    let sample = |read: Read| HostSample {
        host: place.into(),
        source: read.source.into(),
        subject: read.subject,
        began_ns: 0,
        ended_ns: 0,
        reading: read.reading,
    };
    reads.unwrap_or_else(failed).into_iter().map(sample).collect()
}

fn whole(mut answer: impl BufRead) -> Result<Vec<u8>, ServerError> {
    let mut bytes = Vec::new();
    answer.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Parses an answer that is read completely first: a page or a file.
fn read_whole(form: AnswerForm, place: &str, bytes: &[u8]) -> Result<Vec<Read>, ServerError> {
    let text = String::from_utf8_lossy(bytes);
    let counters = match form {
        AnswerForm::Prometheus => return prometheus::read(&text, place),
        AnswerForm::Expvar => expvar::memory(&text),
        AnswerForm::Nginx => nginx::read(&text),
        _ => {
            let read = jvm::read_file(bytes).map_err(|reason| Missing::Failed(reason.to_owned()));
            return Ok(vec![Read::new(form.source(), Subject::Named(place), read)]);
        }
    };
    Ok(vec![Read::new(form.source(), Subject::Named(place), counters.map_err(|error| error.at(place)))])
}
