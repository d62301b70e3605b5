//! One request of a plan, encoded with its templates.

use plimsoll_engine::{FixedRequest, RequestMeta};
use plimsoll_http::{EncodedRequest, Request, USER_AGENT, Version, asks_to_close};
use plimsoll_plan::{MixedRequest, Target};
use plimsoll_scenario::{Template, TemplateScope, Values};

use super::error::ScenarioError;

/// One request of a plan, ready to be rendered.
#[derive(Debug)]
pub(super) struct WireRequest {
    encoded: EncodedRequest<Template>,
    meta: RequestMeta,
    /// True if the request contains the instant at which it is created.
    pub(super) timed: bool,
}

impl WireRequest {
    /// Encodes a request to the host of `target`.
    pub(super) fn new<'r>(
        target: &Target,
        version: Version,
        request: &'r MixedRequest,
        scope: &TemplateScope<'_>,
    ) -> Result<Self, ScenarioError> {
        let line = request.line;
        let template = |text: &[u8], part: &str| {
            Template::parse(text, scope).map_err(|source| ScenarioError::Template {
                part: part.to_owned(),
                line,
                source: source.into(),
            })
        };
        let header = |(name, value): &'r (String, String)| {
            template(value.as_bytes(), &format!("header {name}")).map(|value| (name.as_str(), value))
        };
        let described = Request {
            path: template(request.path.as_bytes(), "the path")?,
            headers: request.headers.iter().map(header).collect::<Result<_, _>>()?,
            body: template(&request.body, "the body")?,
            method: &request.method,
            secure: target.is_secure(),
            authority: target.authority(),
            user_agent: Some(USER_AGENT),
        };
        let encoded = described
            .encode(version)
            .map_err(|source| ScenarioError::Encode { line, source: source.into() })?;
        let asks = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("connection") && asks_to_close(value.as_bytes())
        };
        let closes = request.headers.iter().any(asks);
        let meta = RequestMeta { request: request.group, closes, ..RequestMeta::for_method(&request.method) };
        let timed = encoded.parts().any(Template::is_timed);
        Ok(Self { encoded, meta, timed })
    }

    /// The request's bytes, if they are the same each time.
    pub(super) fn fixed(&self) -> Option<FixedRequest> {
        let (bytes, head_bytes) = self.encoded.constant()?;
        Some(FixedRequest {
            bytes: bytes.into(),
            meta: RequestMeta { head_bytes: head_bytes as u32, ..self.meta },
        })
    }

    /// Appends the request with these values to `out`; `scratch` is memory for a body whose length precedes it.
    pub(super) fn render(
        &self,
        values: &mut Values,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> RequestMeta {
        let head_bytes = self.encoded.render(values, scratch, out);
        RequestMeta { head_bytes: head_bytes as u32, ..self.meta }
    }
}
