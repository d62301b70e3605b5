//! How much one connection carries at a time.

use plimsoll_units::{bytes_text, grouped};

use crate::{MixedRequest, PlanError};

/// The most that the requests under way on one connection may take together, in bytes: what a worker sends of them is
/// counted in 32 bits, and encryption adds a little.
const MAX_VOLUME_BYTES: u64 = 1 << 31;
/// An upper bound for the bytes of a head in addition to the texts of its request.
const MAX_ADDED_BYTES: usize = 256;

fn request_bytes(request: &MixedRequest, authority: &str) -> u64 {
    let fields = request.headers.iter().map(|(name, value)| name.len() + value.len() + ": \r\n".len());
    let head = MAX_ADDED_BYTES + authority.len() + request.method.len() + request.path.len();
    (head + fields.sum::<usize>() + request.body.len()) as u64
}

/// Checks that as many of the longest requests as a connection carries fit into what is kept for them.
pub(crate) fn check(requests: &[MixedRequest], authority: &str, depth: u16) -> Result<(), PlanError> {
    let longest = requests.iter().map(|request| request_bytes(request, authority)).max().unwrap_or(0);
    if longest.saturating_mul(depth.into()) <= MAX_VOLUME_BYTES {
        return Ok(());
    }
    let value = format!("{} × {}", grouped(depth.into()), bytes_text(longest as f64));
    let expected =
        "at most 2 GiB together; send less in one request, or fewer at a time with --pipeline or --streams";
    Err(PlanError::Range {
        what: "the length of the requests on a connection",
        value,
        expected: expected.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body_bytes: usize) -> MixedRequest {
        MixedRequest {
            group: 0,
            weight: 1,
            line: 0,
            method: "POST".to_owned(),
            path: "/".to_owned(),
            headers: Vec::new(),
            body: vec![0; body_bytes],
        }
    }

    #[test]
    fn what_a_connection_carries_fits_into_two_gibibytes() {
        let checked = |bodies: &[usize], depth| {
            let requests: Vec<MixedRequest> = bodies.iter().map(|bytes| request(*bytes)).collect();
            check(&requests, "a.test", depth)
        };
        assert!(checked(&[10, 1_000_000], 2_000).is_ok());
        assert!(checked(&[10], 10_000).is_ok());
        let error = checked(&[10, 1_000_000], 3_000).unwrap_err().to_string();
        assert!(error.contains("is 3,000 × 1.00 MB; it must be at most 2 GiB"), "{error}");
        assert!(error.contains("--pipeline"), "{error}");
    }
}
