use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

fn tls(change: impl FnOnce(&mut TlsSpec)) -> TransportSpec {
    let mut spec = TransportSpec::default();
    change(&mut spec.tls);
    spec
}

fn checked(spec: &TransportSpec, url: &str) -> Result<Option<TlsSpec>, TransportError> {
    spec.checked(&Target::parse(url).unwrap(), None, true)
}

#[test]
fn tls_goes_with_https_alone() {
    assert_eq!(checked(&TransportSpec::default(), "http://a/"), Ok(None));
    assert_eq!(checked(&TransportSpec::default(), "https://a/"), Ok(Some(TlsSpec::default())));
    let options: [(TransportSpec, &str); 4] = [
        (tls(|tls| tls.cacert = Some("ca.pem".into())), "--cacert"),
        (tls(|tls| tls.cert = Some("me.pem".into())), "--cert"),
        (tls(|tls| tls.insecure = true), "--insecure"),
        (tls(|tls| tls.resumption = false), "--no-resumption"),
    ];
    for (spec, option) in options {
        assert_eq!(checked(&spec, "https://a/"), Ok(Some(spec.tls.clone())), "{option}");
        let error = checked(&spec, "http://a/").unwrap_err().to_string();
        assert!(error.contains(option) && error.contains("https://"), "{error}");
    }
}

#[test]
fn options_that_cancel_each_other_are_refused() {
    let both = tls(|tls| (tls.insecure, tls.cacert) = (true, Some("ca.pem".into())));
    assert_eq!(checked(&both, "https://a/"), Err(TransportError::Unverified));
    let key = tls(|tls| tls.key = Some("key.pem".into()));
    assert_eq!(checked(&key, "https://a/"), Err(TransportError::KeyAlone));
    let unstorable = tls(|tls| tls.cacert = Some(OsStr::from_bytes(b"\xff").into()));
    assert_eq!(checked(&unstorable, "https://a/"), Err(TransportError::Path("--cacert")));
}

#[test]
fn a_connection_that_is_closed_after_each_answer_is_shared_by_no_requests() {
    let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let (plain, closing) = (header("A", "close"), header("connection", "x, Close"));
    let check = |requests: &[&Vec<(String, String)>], keep_alive, depth| {
        check_closing(requests.iter().map(|headers| headers.as_slice()), keep_alive, depth)
    };
    assert_eq!(check(&[&plain, &plain], true, 16), Ok(()));
    assert_eq!(check(&[&plain, &closing], true, 1), Ok(()));
    assert_eq!(check(&[&plain, &closing], true, 2), Err(TransportError::ClosedPipeline));
    assert_eq!(check(&[&closing], false, 1), Ok(()));
    assert_eq!(check(&[&closing], false, 2), Err(TransportError::ClosedPipeline));
    assert_eq!(check(&[&closing, &plain], false, 1), Err(TransportError::KeptOpen));
}

#[test]
fn streams_ask_for_http2_which_has_no_pipeline_and_keeps_its_connections() {
    let target = Target::parse("http://a/").unwrap();
    let one = TransportSpec { http2: true, ..TransportSpec::default() };
    let many = TransportSpec { streams: Some(32), ..TransportSpec::default() };
    assert!(one.is_http2() && many.is_http2() && !TransportSpec::default().is_http2());
    for spec in [one, many] {
        assert_eq!(spec.checked(&target, None, true), Ok(None));
        let error = spec.checked(&target, Some(4), true).unwrap_err().to_string();
        assert!(error.contains("--streams"), "{error}");
        let error = spec.checked(&target, None, false).unwrap_err().to_string();
        assert!(error.contains("--no-keepalive"), "{error}");
    }
}
