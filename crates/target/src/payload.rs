//! `/payload`: a JSON response whose length the client chooses.
//!
//! It has the shape of an ordinary API response (a code, a message, a list of records), so that one number controls the body
//! size, and with it the ratio of CPU to bandwidth.

use std::collections::{HashMap, VecDeque};

use crate::response::Response;

const BEGIN: &[u8] = br#"{"code":200,"msg":"ok","body":["#;
const RECORD: &[u8] =
    r#"{"name":"nginx","author":"Igor Sysoev","version":"1.18","desp":"高性能代理工具"}"#.as_bytes();
const END: &[u8] = b"]}";
pub(crate) const MAX_PAYLOAD_MIB: usize = 64;
/// Maximum number of records: with a comma after each they fit into the longest body.
pub(crate) const MAX_RECORDS: u32 =
    ((MAX_PAYLOAD_MIB * 1024 * 1024 - BEGIN.len() - END.len()) / (RECORD.len() + 1)) as u32;

/// Maximum total size of the cached bodies; one body of the greatest length always fits.
const MAX_CACHE_BYTES: usize = 2 * MAX_PAYLOAD_MIB * 1024 * 1024;

/// Cached responses by number of records. The oldest are dropped first when there are too many bytes.
#[derive(Default)]
pub(crate) struct Payloads {
    responses: HashMap<u32, Response>,
    ages: VecDeque<u32>,
    cached_bytes: usize,
}

impl Payloads {
    /// Returns the response with this many records, at most [`MAX_RECORDS`].
    pub(crate) fn response(&mut self, records: u32) -> Response {
        if let Some(response) = self.responses.get(&records) {
            return response.clone();
        }
        let response = Response::json(200, &body(records));
        self.cached_bytes += response.bytes.len();
        while self.cached_bytes > MAX_CACHE_BYTES {
            let Some(oldest) = self.ages.pop_front().and_then(|age| self.responses.remove(&age)) else {
                break;
            };
            self.cached_bytes -= oldest.bytes.len();
        }
        self.ages.push_back(records);
        self.responses.insert(records, response.clone());
        response
    }
}

fn body(records: u32) -> Vec<u8> {
    let mut body = Vec::with_capacity(BEGIN.len() + records as usize * (RECORD.len() + 1) + END.len());
    body.extend_from_slice(BEGIN);
    for index in 0..records {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(RECORD);
    }
    body.extend_from_slice(END);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_are_joined_into_a_list() {
        assert_eq!(body(0), br#"{"code":200,"msg":"ok","body":[]}"#);
        let two = String::from_utf8(body(2)).unwrap();
        assert_eq!(two.matches("Igor Sysoev").count(), 2);
        assert_eq!(two.matches("},{").count(), 1);
        assert!(two.ends_with("\"desp\":\"高性能代理工具\"}]}"));
    }

    #[test]
    fn the_most_records_are_just_within_the_longest_body() {
        let bytes = |records: usize| BEGIN.len() + END.len() + records * (RECORD.len() + 1);
        assert!(bytes(MAX_RECORDS as usize) <= MAX_PAYLOAD_MIB * 1024 * 1024);
        assert!(bytes(MAX_RECORDS as usize + 1) > MAX_PAYLOAD_MIB * 1024 * 1024);
    }

    #[test]
    fn the_cache_gives_the_same_answer_again_and_stays_bounded() {
        let mut payloads = Payloads::default();
        assert!(std::sync::Arc::ptr_eq(&payloads.response(5).bytes, &payloads.response(5).bytes));
        for records in 0..8 {
            payloads.response(300_000 + records);
        }
        let held: usize = payloads.responses.values().map(|response| response.bytes.len()).sum();
        assert!(held <= MAX_CACHE_BYTES && held == payloads.cached_bytes);
        assert_eq!(payloads.responses.len(), payloads.ages.len());
        assert!(payloads.responses.contains_key(&300_007));
    }
}
