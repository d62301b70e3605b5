//! Answers of components that were asked before, or elsewhere: read as those of a running server are, without a connection.

use std::io::BufRead;

use plimsoll_record::{CounterSet, HostSample, Source, Subject};

use super::conversation::MAX_ANSWER_BYTES;
use super::error::ServerError;
use super::{expvar, jvm, memcached, nginx, prometheus, redis};
use crate::collector::{Missing, Read};

/// What a component answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// A page in Prometheus's text form.
    Prometheus,
    /// Redis's answer to INFO, a bulk string of RESP.
    Redis,
    /// memcached's answer to `stats`, up to `END`.
    Memcached,
    /// A Go program's page of variables.
    Expvar,
    /// nginx's page `stub_status`.
    Nginx,
    /// The file of counters that HotSpot keeps.
    Jvm,
}

impl AnswerForm {
    /// All forms.
    pub const ALL: [Self; 6] =
        [Self::Prometheus, Self::Redis, Self::Memcached, Self::Expvar, Self::Nginx, Self::Jvm];

    /// The source of a read that fails.
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

/// The samples that an answer makes, of the host and the component `place`. They have no times. An answer that cannot be read is
/// a sample that failed and says why.
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

/// Reads a page or a file.
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
