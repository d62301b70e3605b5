//! One request as it goes over the wire: what is the same each time, and what is put in between.

use plimsoll_engine::{FixedRequest, Note};
use plimsoll_plan::{MixedRequest, Target};
use plimsoll_scenario::{Feeder, Known, Place, Template, Values};

use super::error::{Part, ScenarioError};

/// What templates may refer to.
pub(super) struct Rows<'a> {
    pub(super) known: Known<'a>,
    pub(super) feeder: Option<&'a Feeder>,
}

impl Rows<'_> {
    fn template(&self, text: &[u8], part: impl FnOnce() -> Part) -> Result<Template, ScenarioError> {
        Template::parse(text, &self.known).map_err(|source| ScenarioError::Template { part: part(), source })
    }

    /// Reads a template of the head and looks through all that it can write.
    fn check(&self, text: &str, place: Place, part: impl Fn() -> Part) -> Result<(), ScenarioError> {
        let template = self.template(text.as_bytes(), &part)?;
        template
            .require_fit(place, self.feeder)
            .map_err(|source| ScenarioError::Unfit { part: part(), source })
    }
}

/// One request of a plan, ready to be rendered.
#[derive(Debug)]
pub(super) struct WireRequest {
    /// The whole request; or, before a body whose length varies, the head up to the digits of its length.
    text: Template,
    /// A body whose length is told in the head.
    counted: Option<Template>,
    note: Note,
    /// The most bytes that it takes.
    bytes_max: usize,
    /// Whether it has to do with the instant it is made.
    pub(super) timed: bool,
}

/// The most digits of a length.
const LENGTH_BYTES_MAX: usize = 20;

impl WireRequest {
    /// The request to the host of `target`, in HTTP/1.1.
    pub(super) fn new(
        target: &Target,
        request: &MixedRequest,
        rows: &Rows<'_>,
    ) -> Result<Self, ScenarioError> {
        let part = |what: &str| Part { what: what.to_owned(), line: request.line };
        rows.check(&request.path, Place::Target, || part("the path"))?;
        for (name, value) in &request.headers {
            rows.check(value, Place::HeaderValue, || part(&format!("header {name}")))?;
        }
        let body = rows.template(&request.body, || part("the body"))?;
        let counted = body.constant().is_none() && !frames_itself(request);
        let encoded = head_text(target, request, body.constant().unwrap_or_default(), counted);
        let mut text = encoded.map_err(|source| ScenarioError::Target { part: part("the head"), source })?;
        if !counted {
            text.extend_from_slice(&request.body);
        }
        let text = rows.template(&text, || part("the head"))?;
        let counted = counted.then_some(body);
        let parts = || [&text].into_iter().chain(&counted);
        let note = Note { request: request.group, ..Note::of_method(&request.method) };
        let bytes_max = parts().map(|part| part.bytes_max(rows.feeder)).sum::<usize>() + LENGTH_BYTES_MAX;
        let timed = parts().any(Template::is_timed);
        Ok(Self { note, bytes_max, timed, text, counted })
    }

    /// The request, if it is the same each time.
    pub(super) fn fixed(&self) -> Option<FixedRequest> {
        let bytes = self.text.constant().filter(|_| self.counted.is_none())?;
        Some(FixedRequest { bytes: bytes.into(), note: self.note })
    }

    /// Appends the request with these values to `out`; `body` is memory for a body whose length comes first.
    pub(super) fn render(&self, values: &mut Values, body: &mut Vec<u8>, out: &mut Vec<u8>) -> Note {
        out.reserve(self.bytes_max);
        let Some(counted) = &self.counted else {
            self.text.render(values, out);
            return self.note;
        };
        body.clear();
        counted.render(values, body);
        self.text.render(values, out);
        out.extend_from_slice(itoa::Buffer::new().format(body.len()).as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(body);
        self.note
    }
}

/// Whether the user's own headers say where the body ends.
fn frames_itself(request: &MixedRequest) -> bool {
    let framing = |name: &str| ["content-length", "transfer-encoding"].contains(&name);
    request.headers.iter().any(|(name, _)| framing(&name.to_ascii_lowercase()))
}

/// The head as a template, as far as the digits of the body's length if that is counted for each request.
///
/// The encoder takes no template for a path, so it gets another one, which is then replaced.
fn head_text(
    target: &Target,
    request: &MixedRequest,
    body: &[u8],
    counted: bool,
) -> Result<Vec<u8>, plimsoll_plan::TargetError> {
    let mut plain = Target { path: "/".to_owned(), body: body.to_vec(), ..request.at(target) };
    if counted {
        plain.headers.push(("Content-Length".to_owned(), String::new()));
    }
    let encoded = plain.encode()?;
    let begin = plain.method.len() + " /".len();
    let end = encoded.len() - body.len() - if counted { "\r\n\r\n".len() } else { 0 };
    let mut text = format!("{} {}", request.method, request.path).into_bytes();
    text.extend_from_slice(&encoded[begin..end]);
    Ok(text)
}
