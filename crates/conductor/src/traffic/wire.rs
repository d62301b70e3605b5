//! One request as it goes over the wire: what is the same each time, and what is put in between.

use plimsoll_engine::{FixedRequest, RequestMeta};
use plimsoll_plan::{MixedRequest, Target};
use plimsoll_scenario::{Feeder, Known, Place, Template, Values};

use super::block::Block;
use super::error::{Part, ScenarioError};

/// What templates may refer to.
pub(super) struct Rows<'a> {
    pub(super) known: Known<'a>,
    pub(super) feeder: Option<&'a Feeder>,
}

impl Rows<'_> {
    pub(super) fn template(
        &self,
        text: &[u8],
        part: impl FnOnce() -> Part,
    ) -> Result<Template, ScenarioError> {
        Template::parse(text, &self.known)
            .map_err(|source| ScenarioError::Template { part: part(), source: source.into() })
    }

    /// Reads a template of the head and looks through all that it can write.
    fn check(&self, text: &str, place: Place, part: impl Fn() -> Part) -> Result<(), ScenarioError> {
        let template = self.template(text.as_bytes(), &part)?;
        template
            .require_fit(place, self.feeder)
            .map_err(|source| ScenarioError::Unfit { part: part(), source: source.into() })
    }
}

/// One request of a plan, ready to be rendered.
#[derive(Debug)]
pub(super) struct WireRequest {
    form: Form,
    note: RequestMeta,
    /// The most bytes that it takes.
    bytes_max: usize,
    /// Whether it has to do with the instant it is made.
    pub(super) timed: bool,
}

#[derive(Debug)]
enum Form {
    /// HTTP/1.1, the whole request.
    Text(Template),
    /// HTTP/1.1, the head up to the digits of the length of a body that varies, and that body.
    Counted(Template, Template),
    /// HTTP/2: a header block, and the body.
    Streamed(Block, Template),
}

/// The most digits of a length.
const LENGTH_BYTES_MAX: usize = 20;

impl WireRequest {
    /// The request to the host of `target`, in HTTP/2 or HTTP/1.1.
    pub(super) fn new(
        (target, http2): (&Target, bool),
        request: &MixedRequest,
        rows: &Rows<'_>,
    ) -> Result<Self, ScenarioError> {
        let part = |what: &str| Part { what: what.to_owned(), line: request.line };
        rows.check(&request.path, Place::Target, || part("the path"))?;
        for (name, value) in &request.headers {
            rows.check(value, Place::HeaderValue, || part(&format!("header {name}")))?;
        }
        let body = rows.template(&request.body, || part("the body"))?;
        let form = match http2 {
            true => {
                let body_bytes = body.constant().map(<[u8]>::len);
                Form::Streamed(Block::new(target, request, body_bytes, rows)?, body)
            }
            false => Form::in_text(target, request, body, rows)?,
        };
        let note = RequestMeta { request: request.group, ..RequestMeta::for_method(&request.method) };
        let bytes_max = form.bytes_max(rows);
        Ok(Self { note, bytes_max, timed: form.is_timed(), form })
    }

    /// The request, if it is the same each time.
    pub(super) fn fixed(&self) -> Option<FixedRequest> {
        let (head, body) = match &self.form {
            Form::Text(text) => (&[][..], text.constant()?),
            Form::Counted(..) => return None,
            Form::Streamed(block, body) => (block.constant()?, body.constant()?),
        };
        let note = RequestMeta { head_bytes: head.len() as u32, ..self.note };
        Some(FixedRequest { bytes: [head, body].concat().into(), meta: note })
    }

    /// Appends the request with these values to `out`; `scratch` is memory for what has to be known before it is sent.
    pub(super) fn render(
        &self,
        values: &mut Values,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> RequestMeta {
        out.reserve(self.bytes_max);
        let begin = out.len();
        let mut note = self.note;
        match &self.form {
            Form::Text(text) => text.render(values, out),
            Form::Counted(head, body) => {
                scratch.clear();
                scratch.reserve(self.bytes_max);
                body.render(values, scratch);
                head.render(values, out);
                out.extend_from_slice(itoa::Buffer::new().format(scratch.len()).as_bytes());
                out.extend_from_slice(b"\r\n\r\n");
                out.extend_from_slice(scratch);
            }
            Form::Streamed(block, body) => {
                block.render(values, scratch, out);
                note.head_bytes = (out.len() - begin) as u32;
                body.render(values, out);
            }
        }
        note
    }
}

impl Form {
    fn in_text(
        target: &Target,
        request: &MixedRequest,
        body: Template,
        rows: &Rows<'_>,
    ) -> Result<Self, ScenarioError> {
        let part = || Part { what: "the head".to_owned(), line: request.line };
        let counted = body.constant().is_none() && !frames_itself(request);
        let encoded = head_text(target, request, body.constant().unwrap_or_default(), counted);
        let mut text =
            encoded.map_err(|source| ScenarioError::Target { part: part(), source: source.into() })?;
        if counted {
            return Ok(Self::Counted(rows.template(&text, part)?, body));
        }
        text.extend_from_slice(&request.body);
        Ok(Self::Text(rows.template(&text, part)?))
    }

    fn bytes_max(&self, rows: &Rows<'_>) -> usize {
        let of = |template: &Template| template.bytes_max(rows.feeder);
        match self {
            Self::Text(text) => of(text),
            Self::Counted(head, body) => of(head) + of(body) + LENGTH_BYTES_MAX,
            Self::Streamed(block, body) => block.bytes_max + of(body),
        }
    }

    fn is_timed(&self) -> bool {
        match self {
            Self::Text(text) => text.is_timed(),
            Self::Counted(head, body) => head.is_timed() || body.is_timed(),
            Self::Streamed(block, body) => body.is_timed() || block.templates().any(Template::is_timed),
        }
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
