//! One URL or path a line, each a GET.

use super::annotation::Waiting;
use super::{Body, Fault, Line, RequestText, RequestsError, at, quoted, url};

pub(super) fn parse<'a>(lines: impl Iterator<Item = Line<'a>>) -> Result<Vec<RequestText>, RequestsError> {
    let mut requests = Vec::new();
    let mut waiting = Waiting::default();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        if line.starts_with('#') {
            waiting.read((number, line))?;
            continue;
        }
        if !url::is_url(line) {
            return Err(at(number)(Fault::Url(quoted(line))));
        }
        requests.push(RequestText::begin("GET", line, number, &mut waiting));
    }
    waiting.finish()?;
    Ok(requests)
}

impl RequestText {
    /// A request without headers or a body, named and weighted by the settings above it.
    pub(super) fn begin(method: &str, url: &str, line: usize, waiting: &mut Waiting) -> Self {
        let settings = waiting.take();
        Self {
            name: settings.name.unwrap_or_else(|| url::default_name(method, url)),
            weight: settings.weight.unwrap_or(1),
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Body::None,
            line,
        }
    }
}
