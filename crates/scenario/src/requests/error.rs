//! Why a file of requests cannot be used.

/// Why a file of requests cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestsError {
    /// Nothing but blank lines and comments.
    #[error("there is no request in it; write a URL, `METHOD URL` or a JSON object with `method` and `url`")]
    Empty,
    /// One line is wrong.
    #[error("line {line}: {fault}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// What can be wrong with a line of a file of requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The first line fits none of the formats.
    #[error(
        "`{0}` begins no format; a file holds either URLs or paths, one a line, or `METHOD URL` with the \
         method in capitals, or one JSON object a line"
    )]
    Format(String),
    /// A line outside of a request that does not begin one.
    #[error("`{0}` begins no request; write `METHOD URL` with the method in capitals, such as `GET /path`")]
    Target(String),
    /// Not a URL.
    #[error(
        "`{0}` is no URL; it begins with http://, https:// or, relative to the command's URL, with /, and \
         spaces in it are written %20"
    )]
    Url(String),
    /// A line within a request that is no header.
    #[error("`{0}` is no header; write `Name: value`, or leave an empty line before the next request")]
    Header(String),
    /// `@` and nothing after it.
    #[error("the body's file has no name; write `@path/to/body`")]
    BodyFile,
    /// A setting with an unknown name.
    #[error("`{text}` is no setting{hint}; write `# plimsoll: weight=3 name=checkout`")]
    Setting {
        /// As typed.
        text: String,
        /// The name that was perhaps meant, in parentheses; empty if none is near.
        hint: String,
    },
    /// A weight that is none.
    #[error("`{0}` is no weight; write a whole number from 1 to 1000000")]
    Weight(String),
    /// An empty name, or one with characters that cannot be shown.
    #[error("`{0}` is no name; write visible characters, in double quotes if there are spaces")]
    Name(String),
    /// Settings, and no request after them.
    #[error("the settings belong to the request below them, and there is none")]
    SettingsAlone,
    /// Settings for a request that already has some.
    #[error("these are the second settings for one request; write them in one line")]
    SettingsTwice,
    /// Not the JSON object that was expected.
    #[error("{0}; write an object such as {{\"method\": \"GET\", \"url\": \"/path\"}} on one line")]
    Json(String),
    /// A body that is not base64.
    #[error("the `body` is not base64: {0}")]
    Base64(String),
}

/// A line with its number, without the space around it.
pub(super) type Line<'a> = (usize, &'a str);

/// Adds the number of a line to its fault.
pub(super) fn at(line: usize) -> impl Fn(Fault) -> RequestsError {
    move |fault| RequestsError::Line { line, fault }
}
