//! The head of a templated request over HTTP/2: a header block, of which some fields are rendered each time.

use plimsoll_http::h2;
use plimsoll_plan::{MixedRequest, Target};
use plimsoll_scenario::{Template, Values};

use super::error::{Part, ScenarioError};
use super::wire::Rows;

/// A piece of a header block.
#[derive(Debug)]
enum Piece {
    /// Encoded fields that are the same each time.
    Fields(Vec<u8>),
    /// A field whose value is rendered.
    Field { name: String, value: Template },
}

impl Piece {
    fn bytes_max(&self, rows: &Rows<'_>) -> usize {
        match self {
            Self::Fields(block) => block.len(),
            Self::Field { name, value } => FIELD_BYTES_MAX + name.len() + value.bytes_max(rows.feeder),
        }
    }
}

/// A header block that is put together for each request.
#[derive(Debug)]
pub(super) struct Block {
    pieces: Vec<Piece>,
    /// The most bytes that it takes.
    pub(super) bytes_max: usize,
}

/// A field takes so many bytes beside its name and value, at most: two lengths and a mark.
const FIELD_BYTES_MAX: usize = 16;

/// Fields that belong to an HTTP/1.1 connection, or that HTTP/2 says in another way (RFC 9113, section 8.2.2).
const DROPPED: [&str; 4] = ["connection", "keep-alive", "proxy-connection", "host"];

impl Block {
    /// The block of a request to the host of `target`; `body_bytes` is the length of a body that is always the same.
    pub(super) fn new(
        target: &Target,
        request: &MixedRequest,
        body_bytes: Option<usize>,
        rows: &Rows<'_>,
    ) -> Result<Self, ScenarioError> {
        let part = || Part { what: "the head".to_owned(), line: request.line };
        let refused = |source: plimsoll_plan::TargetError| ScenarioError::Target {
            part: part(),
            source: source.into(),
        };
        // The encoder looks at names and values; what it makes is of use only where nothing is rendered.
        let plain = target.h2_head_of(&request.method, "/", &request.headers, None);
        plain.map_err(|error| refused(error.into()))?;
        let mut pieces = Vec::new();
        for (name, value) in fields(target, request, body_bytes) {
            let template = rows.template(value.as_bytes(), part)?;
            match (template.constant(), pieces.last_mut()) {
                (None, _) => pieces.push(Piece::Field { name, value: template }),
                (Some(_), Some(Piece::Fields(block))) => push(block, &name, &template, refused)?,
                (Some(_), _) => {
                    let mut block = Vec::new();
                    push(&mut block, &name, &template, refused)?;
                    pieces.push(Piece::Fields(block));
                }
            }
        }
        let bytes_max = pieces.iter().map(|piece| piece.bytes_max(rows)).sum();
        Ok(Self { pieces, bytes_max })
    }

    /// The block, if it is the same each time.
    pub(super) fn constant(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [Piece::Fields(block)] => Some(block),
            _ => None,
        }
    }

    /// Appends the block with these values to `out`; `scratch` is memory for a value.
    pub(super) fn render(&self, values: &mut Values, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Fields(block) => out.extend_from_slice(block),
                Piece::Field { name, value } => {
                    scratch.clear();
                    scratch.reserve(self.bytes_max);
                    value.render(values, scratch);
                    let text = std::str::from_utf8(scratch).unwrap_or_default();
                    if h2::push_field(out, name, text).is_err() {
                        unreachable!("what a template can write was looked through before the load");
                    }
                }
            }
        }
    }

    /// The templates that are rendered.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Fields(_) => None,
            Piece::Field { value, .. } => Some(value),
        })
    }
}

fn push(
    block: &mut Vec<u8>,
    name: &str,
    value: &Template,
    refused: impl Fn(plimsoll_plan::TargetError) -> ScenarioError,
) -> Result<(), ScenarioError> {
    let text = String::from_utf8_lossy(value.constant().unwrap_or_default());
    h2::push_field(block, name, &text).map_err(|error| refused(error.into()))
}

/// All fields of the head, in the order in which HTTP/2 wants them.
fn fields(target: &Target, request: &MixedRequest, body_bytes: Option<usize>) -> Vec<(String, String)> {
    let given = |wanted: &str| request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let authority = given("host").map_or_else(|| target.authority(), |(_, value)| value.clone());
    let mut fields = vec![
        (":method".to_owned(), request.method.clone()),
        (":scheme".to_owned(), target.scheme().to_owned()),
        (":authority".to_owned(), authority),
        (":path".to_owned(), request.path.clone()),
    ];
    if given("user-agent").is_none() {
        fields.push(("user-agent".to_owned(), plimsoll_http::USER_AGENT.to_owned()));
    }
    if let Some(length) = body_bytes.filter(|length| *length > 0 && given("content-length").is_none()) {
        fields.push(("content-length".to_owned(), length.to_string()));
    }
    let own = request.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    fields.extend(own.filter(|(name, _)| !DROPPED.contains(&name.as_str())));
    fields
}
