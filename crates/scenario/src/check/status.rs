//! Status codes and classes of them.

/// One status or one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusPattern {
    Code(u16),
    /// The first digit, as in `2xx`.
    Class(u16),
}

impl StatusPattern {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
            let class = class.parse().ok().filter(|class| (1..=5).contains(class))?;
            return (text.len() == 3).then_some(Self::Class(class));
        }
        let code = text.parse().ok().filter(|code| (100..=599).contains(code))?;
        (text.len() == 3).then_some(Self::Code(code))
    }

    pub(super) fn holds(self, status: u16) -> bool {
        match self {
            Self::Code(code) => status == code,
            Self::Class(class) => status / 100 == class,
        }
    }
}
