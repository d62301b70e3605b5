//! What holds for every text taken as a template: the property that the tests and the fuzzer share.

use std::sync::Arc;

use plimsoll_scenario::{Feed, Feeder, Known, Order, Place, Share, Start, Template, Values};

const CSV: &[u8] = b"id,full name\n1,Ada\n2,Grace Hopper\n3,\"two\nlines\"\n";
const REQUESTS: u64 = 4;

/// Asserts that a text is refused with a short message, or renders within the length it states, the same
/// for the same seed, and with nothing unfit for a place that it was found fit for; and that the same text
/// with its openings escaped is itself.
pub(crate) fn check(text: &[u8]) {
    let feeder = Arc::new(Feeder::from_csv(CSV).expect("a CSV file"));
    match parse(text, &feeder) {
        Ok(template) => check_rendering(&template, &feeder),
        Err(message) => assert!(message.len() < 1000 && !message.contains('\n'), "{message}"),
    }
    let escaped = parse(&escape(text), &feeder).expect("a text whose openings are escaped");
    assert_eq!(escaped.constant(), Some(text));
}

fn parse(text: &[u8], feeder: &Feeder) -> Result<Template, String> {
    let env = |name: &str| name.starts_with('A').then(|| format!("{name}\r\n${{"));
    let known = Known { columns: feeder.columns(), env: &env };
    Template::parse(text, &known).map_err(|error| error.to_string())
}

fn check_rendering(template: &Template, feeder: &Arc<Feeder>) {
    let bytes_max = template.bytes_max(Some(feeder));
    let renderings = render(template, feeder);
    assert_eq!(renderings, render(template, feeder), "the same seed gives the same bytes");
    for rendering in &renderings {
        assert!(rendering.len() <= bytes_max, "{} of {bytes_max} bytes", rendering.len());
        assert!(template.constant().is_none_or(|constant| constant == rendering));
    }
    let fits = |place| template.require_fit(place, Some(feeder)).is_ok();
    let bytes = || renderings.iter().flatten();
    assert!(!fits(Place::HeaderValue) || bytes().all(|byte| !matches!(byte, b'\r' | b'\n' | 0)));
    assert!(!fits(Place::Target) || bytes().all(u8::is_ascii_graphic));
}

fn render(template: &Template, feeder: &Arc<Feeder>) -> Vec<Vec<u8>> {
    let feed = Feed { feeder: Arc::clone(feeder), order: Order::Sequential };
    let mut values = Values::new(7, Share { worker: 1, workers: 2 }, Start::default(), Some(feed));
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
