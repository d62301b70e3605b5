//! Which driver is used: what was asked for, and what the kernel offers.

use std::sync::Arc;

use plimsoll_plan::DriverKind;

use super::uring::Uring;
use crate::running::EngineError;

/// The driver that steps will use: the one that is forced, or the better one that works here.
///
/// # Errors
/// When io_uring is forced and this kernel, or a sandbox around the process, does not offer it.
pub fn available_driver(forced: Option<DriverKind>) -> Result<DriverKind, EngineError> {
    if forced == Some(DriverKind::Epoll) {
        return Ok(DriverKind::Epoll);
    }
    match (Uring::new(Arc::from([])), forced) {
        (Ok(_), _) => Ok(DriverKind::IoUring),
        (Err(_), None) => Ok(DriverKind::Epoll),
        (Err(source), Some(_)) => Err(EngineError::NoRing { source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forced_is_used_and_otherwise_what_works() {
        assert_eq!(available_driver(Some(DriverKind::Epoll)).unwrap(), DriverKind::Epoll);
        match available_driver(Some(DriverKind::IoUring)) {
            Ok(forced) => {
                assert_eq!((forced, available_driver(None).unwrap()), (DriverKind::IoUring, forced))
            }
            Err(error) => {
                assert!(error.to_string().contains("--driver epoll"), "{error}");
                assert_eq!(available_driver(None).unwrap(), DriverKind::Epoll);
            }
        }
    }
}
