//! The part of a plan file about several requests.

use std::path::PathBuf;

use super::error::PlanFileError;
use super::section::Section;
use crate::RequestSpec;

const KEYS: [&str; 6] = ["name", "weight", "method", "url", "headers", "body"];

/// The requests that a file holds, or the file that they are in.
#[derive(Debug, Default)]
pub(super) struct Several {
    /// Those of the plan file itself, each with its line there.
    pub(super) own: Vec<RequestSpec>,
    /// The file of requests, as on the command line.
    pub(super) file: Option<PathBuf>,
}

impl Several {
    /// Reads both places, of which one at most is used, and only without what makes up a single request.
    pub(super) fn read(file: &Section<'_, '_>, target: &Section<'_, '_>) -> Result<Self, PlanFileError> {
        let named = target.get("requests");
        let tables = file.get("request");
        let Some(given) = named.as_ref().or(tables.as_ref()) else { return Ok(Self::default()) };
        if let (Some(named), Some(tables)) = (&named, &tables) {
            return Err(named.conflicting(tables));
        }
        // A single request's parts would be said of none.
        if let Some(single) = ["method", "body"].into_iter().find_map(|key| target.get(key)) {
            return Err(single.conflicting(given));
        }
        let sections = file.sections("request", &KEYS)?;
        if let (Some(tables), true) = (&tables, sections.is_empty()) {
            return Err(tables.wrong("at least one table"));
        }
        Ok(Self {
            own: sections.iter().map(request).collect::<Result<_, _>>()?,
            file: named.map(|named| named.string().map(PathBuf::from)).transpose()?,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.file.is_none()
    }
}

fn request(section: &Section<'_, '_>) -> Result<RequestSpec, PlanFileError> {
    let url = section.needed("url")?;
    let text = url.string()?;
    let is_url = ["/", "http://", "https://"].iter().any(|begin| text.starts_with(begin));
    if !is_url {
        return Err(url.wrong("a path such as \"/orders\", or a URL that begins with http:// or https://"));
    }
    let body = section.get("body").map(|body| body.string().map(String::into_bytes)).transpose()?;
    let method = section.get("method").map(|method| method.string()).transpose()?;
    let method = method.unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
    let path = crate::requests::path(&text);
    let plain = format!("{method} {}", path.split('?').next().unwrap_or_default());
    Ok(RequestSpec {
        name: section.get("name").map(|name| name.string()).transpose()?.unwrap_or(plain),
        weight: section.get("weight").map(|weight| weight.weight()).transpose()?.unwrap_or(1),
        line: section.line(),
        method,
        url: text,
        headers: section.pairs("headers")?,
        body: body.unwrap_or_default(),
    })
}
