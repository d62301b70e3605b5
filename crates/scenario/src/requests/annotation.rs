//! Settings that vegeta does not have, written in lines that vegeta treats as comments.

use super::error::{Fault, Line, RequestsError, at};
use crate::suggestion::{did_you_mean, quoted};

/// The maximum weight; with larger ones the cycle of requests would be too long.
const MAX_WEIGHT: u32 = 1_000_000;

/// The settings in a comment line `# plimsoll: weight=3 name=checkout`, for the request after it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Annotation {
    pub(super) weight: Option<u32>,
    pub(super) name: Option<String>,
}

impl Annotation {
    /// Parses a comment line; `None` for a comment without settings.
    fn parse(line: &str) -> Result<Option<Self>, Fault> {
        let comment = line.trim_start_matches('#').trim_start();
        let Some(mut rest) = comment.strip_prefix("plimsoll:").map(str::trim) else {
            return Ok(None);
        };
        let mut annotation = Self::default();
        while !rest.is_empty() {
            let (key, value, tail) = split_setting(rest).ok_or_else(|| not_a_setting(rest, String::new()))?;
            annotation.set(key, value)?;
            rest = tail.trim_start();
        }
        Ok(Some(annotation))
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        match key {
            "weight" => {
                let weight = plimsoll_units::parse_count(value).map_err(|_| Fault::Weight(quoted(value)))?;
                self.weight = Some(check_weight(weight)?);
            }
            "name" => self.name = Some(check_name(value)?),
            other => {
                let hint = did_you_mean(other, ["weight", "name"].into_iter());
                return Err(not_a_setting(other, hint));
            }
        }
        Ok(())
    }
}

fn not_a_setting(text: &str, hint: String) -> Fault {
    Fault::Setting { text: quoted(text), hint }
}

/// Splits `key=value` or `key="a value"` from the front.
fn split_setting(text: &str) -> Option<(&str, &str, &str)> {
    let (key, rest) = text.split_once('=')?;
    let (value, tail) = match rest.strip_prefix('"') {
        Some(inside) => inside.split_once('"')?,
        None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
    };
    Some((key, value, tail))
}

pub(super) fn check_weight(weight: u64) -> Result<u32, Fault> {
    let known = u32::try_from(weight).ok().filter(|weight| (1..=MAX_WEIGHT).contains(weight));
    known.ok_or_else(|| Fault::Weight(weight.to_string()))
}

pub(super) fn check_name(name: &str) -> Result<String, Fault> {
    let name = name.trim();
    if name.is_empty() || name.contains(char::is_control) {
        return Err(Fault::Name(quoted(name)));
    }
    Ok(name.to_owned())
}

/// Settings whose request has not been read yet.
#[derive(Default)]
pub(super) struct Waiting(Option<(usize, Annotation)>);

impl Waiting {
    /// Parses a comment line and stores its settings, if it has any.
    pub(super) fn read(&mut self, (number, line): Line<'_>) -> Result<(), RequestsError> {
        let Some(annotation) = Annotation::parse(line).map_err(at(number))? else {
            return Ok(());
        };
        match self.0.replace((number, annotation)) {
            Some(_) => Err(at(number)(Fault::SettingsTwice)),
            None => Ok(()),
        }
    }

    /// Takes the settings for the request that begins here.
    pub(super) fn take(&mut self) -> Annotation {
        self.0.take().map(|(_, annotation)| annotation).unwrap_or_default()
    }

    /// Fails if there are settings without a request after them.
    pub(super) fn finish(self) -> Result<(), RequestsError> {
        self.0.map_or(Ok(()), |(number, _)| Err(at(number)(Fault::SettingsAlone)))
    }
}
