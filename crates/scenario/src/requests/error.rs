//! Why a file of requests cannot be used.

/// Why a file of requests cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestsError {
    #[error("there is no request in it; write a URL, `METHOD URL` or a JSON object with `method` and `url`")]
    Empty,
    #[error("line {line}: {fault}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        fault: Fault,
    },
}

/// The error in a line of a file of requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    #[error(
        "`{0}` begins no format; a file holds either URLs or paths, one a line, or `METHOD URL` with the \
         method in capitals, or one JSON object a line"
    )]
    Format(String),
    #[error("`{0}` begins no request; write `METHOD URL` with the method in capitals, such as `GET /path`")]
    Target(String),
    #[error(
        "`{0}` is no URL; it begins with http://, https:// or, relative to the command's URL, with /, and \
         spaces in it are written %20"
    )]
    Url(String),
    #[error("`{0}` is no header; write `Name: value`, or leave an empty line before the next request")]
    Header(String),
    #[error("the body's file has no name; write `@path/to/body`")]
    BodyFile,
    #[error("`{text}` is no setting{hint}; write `# plimsoll: weight=3 name=checkout`")]
    Setting {
        text: String,
        /// The name that was probably meant, in parentheses; empty if none is similar.
        hint: String,
    },
    #[error("`{0}` is no weight; write a whole number from 1 to 1000000")]
    Weight(String),
    #[error("`{0}` is no name; write visible characters, in double quotes if there are spaces")]
    Name(String),
    #[error("the settings belong to the request below them, and there is none")]
    SettingsAlone,
    #[error("these are the second settings for one request; write them in one line")]
    SettingsTwice,
    #[error("{0}; write an object such as {{\"method\": \"GET\", \"url\": \"/path\"}} on one line")]
    Json(String),
    #[error("the `body` is not base64: {0}")]
    Base64(String),
}

/// A trimmed line with its number.
pub(super) type Line<'a> = (usize, &'a str);

/// Adds the line number to a fault.
pub(super) fn at(line: usize) -> impl Fn(Fault) -> RequestsError {
    move |fault| RequestsError::Line { line, fault }
}
