//! What holds for every text taken as a template: the property that the tests and the fuzzer share.

use std::sync::Arc;

use plimsoll_http::Part;
use plimsoll_scenario::{Feeder, Order, RowSource, Share, Start, Template, TemplateScope, Values};

const CSV: &[u8] = b"id,full name\n1,Ada\n2,Grace Hopper\n3,\"two\nlines\"\n";
const REQUESTS: u64 = 4;

/// Asserts that a text is refused with a short message, or renders within the length it states, the same
/// for the same seed, and with no byte that its check did not allow; and that the same text
/// with its openings escaped is itself.
pub(crate) fn check(text: &[u8]) {
    let feeder = Arc::new(Feeder::from_csv(CSV).expect("a CSV file"));
    match parse(text, &feeder) {
        Ok(template) => check_rendering(&template, &feeder),
        Err(message) => assert!(message.len() < 2000 && !message.contains('\n'), "{message}"),
    }
    let escaped = parse(&escape(text), &feeder).expect("a text whose openings are escaped");
    assert_eq!(escaped.constant(), Some(text));
}

fn parse(text: &[u8], feeder: &Arc<Feeder>) -> Result<Template, String> {
    let env = |name: &str| name.starts_with('A').then(|| format!("{name}\r\n${{"));
    let scope = TemplateScope { feeder: Some(feeder), env: &env };
    Template::parse(text, &scope).map_err(|error| error.to_string())
}

fn check_rendering(template: &Template, feeder: &Arc<Feeder>) {
    let max_bytes = template.max_bytes();
    let renderings = render(template, feeder);
    assert_eq!(renderings, render(template, feeder), "the same seed gives the same bytes");
    for rendering in &renderings {
        assert!(rendering.len() <= max_bytes, "{} of {max_bytes} bytes", rendering.len());
        assert!(template.constant().is_none_or(|constant| constant == rendering));
    }
    let in_header = |byte| !matches!(byte, b'\r' | b'\n' | 0);
    for allowed in [in_header, |byte: u8| byte.is_ascii_graphic()] {
        let fits = template.check(allowed).is_ok();
        assert!(!fits || renderings.iter().flatten().all(|byte| allowed(*byte)));
    }
}

fn render(template: &Template, feeder: &Arc<Feeder>) -> Vec<Vec<u8>> {
    let row_source = RowSource { feeder: Arc::clone(feeder), order: Order::Sequential };
    let mut values = Values::new(7, Share { worker: 1, workers: 2 }, Start::default(), Some(row_source));
    let instants = (0..REQUESTS).map(|n| n * (u64::MAX / REQUESTS));
    instants
        .map(|unix_ms| {
            let mut out = Vec::new();
            values.next_request(unix_ms);
            template.render(&mut values, &mut out);
            out
        })
        .collect()
}

/// Writes a second dollar in front of each opening.
fn escape(text: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(text.len() * 2);
    for (index, byte) in text.iter().enumerate() {
        if text[index..].starts_with(b"${") {
            escaped.push(b'$');
        }
        escaped.push(*byte);
    }
    escaped
}
