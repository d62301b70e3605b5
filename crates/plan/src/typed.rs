//! Helpers for types that are typed, printed and stored as the same text.

use http::Uri;

/// Implements the conversions that store a type as the text in which it is typed.
macro_rules! stored_as_typed {
    ($($kind:ty),*) => {$(
        impl TryFrom<String> for $kind {
            type Error = <$kind as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$kind> for String {
            fn from(value: $kind) -> Self {
                value.to_string()
            }
        }
    )*};
}

pub(crate) use stored_as_typed;

/// Parses a TCP port; 0 is an error.
pub(crate) fn port(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| format!("`{text}` is not a port"))
}

/// Parses a process id; 0 is an error.
pub(crate) fn pid(text: &str) -> Result<u32, String> {
    let pid = text.parse().ok().filter(|pid| *pid > 0);
    pid.ok_or_else(|| format!("`{text}` is not the number of a process"))
}

/// Parses the URL of a page over HTTP; error messages refer to it as `shown`.
pub(crate) fn page(url: &str, shown: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|error| format!("{shown} is not a URL ({error})"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(format!("{shown} begins neither with http:// nor with https://"));
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("its URL carries a user name, and run files would keep the password".to_owned());
    }
    Ok(uri)
}
