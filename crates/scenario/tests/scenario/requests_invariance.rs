//! What holds for every text taken as a file of requests, a CSV file or a check: shared by tests and fuzzer.

use plimsoll_scenario::{Check, CheckedResponse, Feeder, RequestsError, parse_requests};

/// Asserts that a text is refused with a short message of one line that names a line there is, or makes
/// requests, rows or a check that are whole.
pub(crate) fn check(input: &[u8]) {
    check_rows(input);
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    check_requests(text);
    check_check(text, input);
}

fn check_message(message: &str) {
    assert!(message.len() < 1000 && !message.contains('\n'), "{message:?}");
}

fn check_requests(text: &str) {
    let lines = text.lines().count();
    match parse_requests(text) {
        Ok(requests) => {
            assert!(!requests.is_empty());
            for request in requests {
                assert!((1..=lines).contains(&request.line), "{request:?}");
                assert!(request.weight >= 1, "{request:?}");
                assert!(![&request.name, &request.method, &request.url].iter().any(|text| text.is_empty()));
            }
        }
        Err(error) => {
            let named = match error {
                RequestsError::Line { line, .. } => (1..=lines).contains(&line),
                _ => true,
            };
            assert!(named, "{error} of {lines}");
            check_message(&error.to_string());
        }
    }
}

fn check_rows(input: &[u8]) {
    let Ok(feeder) = Feeder::from_csv(input) else {
        return;
    };
    let lines = input.split(|byte| *byte == b'\n').count() as u64;
    assert!(feeder.rows() > 0);
    for row in 0..feeder.rows() {
        let line = feeder.line(row).expect("a line");
        assert!(line >= 1 && line <= lines, "row {row} in line {line} of {lines}");
        let cells: usize = (0..feeder.columns().len()).map(|column| feeder.cell(row, column).len()).sum();
        assert!(cells <= input.len());
    }
}

fn check_check(text: &str, body: &[u8]) {
    match Check::parse(text) {
        Ok(check) => {
            assert_eq!(check.to_string(), text.trim());
            let answer = CheckedResponse { status: 200, body_bytes: body.len() as u64, head: body, body };
            check.holds(&answer);
        }
        Err(error) => check_message(&error.to_string()),
    }
}
