//! The real nginx runs, counts, and is gone with its handle.

#![expect(clippy::unwrap_used, reason = "a test that cannot talk to the server has to fail")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use plimsoll_testkit::Nginx;

fn get(nginx: &Nginx, path: &str) -> String {
    let mut stream = TcpStream::connect(nginx.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn nginx_answers_and_its_count_leaves_out_the_questions() {
    let nginx = Nginx::start().unwrap();
    assert_eq!(nginx.requests().unwrap(), 0);
    assert!(get(&nginx, "/").ends_with("\r\n\r\n{\"status\":\"ok\"}"));
    let file = get(&nginx, "/file");
    assert_eq!(file.split_once("\r\n\r\n").unwrap().1.len(), Nginx::FILE_BYTES);
    assert_eq!(nginx.requests().unwrap(), 2);
    assert_eq!(nginx.requests().unwrap(), 2);
}

#[test]
fn nginx_is_gone_with_its_handle() {
    let first = Nginx::start().unwrap();
    let second = Nginx::start().unwrap();
    let address = first.address();
    drop(first);
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    assert!(get(&second, "/").starts_with("HTTP/1.1 200 "), "the other one lives on");
}
