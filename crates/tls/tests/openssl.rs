//! Sessions with the server of OpenSSL, which has its own view of what was agreed on.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use plimsoll_tls::{Client, Identity, Roots, ServerName, Session, TlsSettings};
use tempfile::TempDir;

/// Long enough for a busy machine; only a broken exchange waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder with a certificate that signs itself, as users make them, and its key.
fn certificate() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .status();
    assert!(made.expect("openssl must be installed").success());
    folder
}

fn settings(folder: &Path) -> TlsSettings {
    let roots = Roots::Pem(std::fs::read(folder.join("cert.pem")).unwrap());
    TlsSettings { roots, ..TlsSettings::default() }
}

fn own_identity(folder: &Path) -> Option<Identity> {
    let read = |name| std::fs::read(folder.join(name)).unwrap();
    Some(Identity { chain_pem: read("cert.pem"), key_pem: read("key.pem") })
}

struct Server {
    child: Child,
    commands: ChildStdin,
    output: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    /// Starts `openssl s_server` on a free port, which it prints.
    fn start(folder: &Path, options: &[&str]) -> Self {
        let mut child = Command::new("openssl")
            .args(["s_server", "-accept", "127.0.0.1:0", "-cert", "cert.pem", "-key", "key.pem"])
            .args(options)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl must be installed");
        let commands = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let accepts = line_with(&mut output, "ACCEPT ");
        let address = accepts.trim().strip_prefix("ACCEPT ").unwrap().to_owned();
        Self { child, commands, output, address }
    }

    fn connect(&self, client: &Client) -> Connection {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut session = client.session(&ServerName::parse("localhost").unwrap()).unwrap();
        let mut out = Vec::new();
        session.start(&mut out).unwrap();
        let mut connection = Connection { stream, session, out, plain: Vec::new() };
        connection.read_while(|connection| !connection.session.is_open());
        connection
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The next line of `output` that contains `text`; the end of the output is a failure.
fn line_with(output: &mut impl BufRead, text: &str) -> String {
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server ended before it said {text}");
    }
    line
}

struct Connection {
    stream: TcpStream,
    session: Session,
    out: Vec<u8>,
    plain: Vec<u8>,
}

impl Connection {
    fn say(&mut self, words: &[u8]) {
        self.session.seal(words, &mut self.out).unwrap();
    }

    /// Sends what is there and reads while `go_on` and the server has not closed.
    fn read_while(&mut self, go_on: impl Fn(&Self) -> bool) {
        let mut buffer = vec![0; 4096];
        loop {
            let enough = !go_on(self);
            self.stream.write_all(&std::mem::take(&mut self.out)).unwrap();
            if enough {
                return;
            }
            let count = self.stream.read(&mut buffer).unwrap();
            if count == 0 {
                return self.session.end().unwrap();
            }
            let plain = &mut self.plain;
            let take = &mut |piece: &[u8]| plain.extend_from_slice(piece);
            self.session.receive(&mut buffer[..count], &mut self.out, take).unwrap();
        }
    }

    /// Asks for the status page and reads it to its end.
    fn status_page(mut self) -> (String, Session) {
        self.say(b"GET / HTTP/1.0\r\n\r\n");
        self.read_while(|connection| !connection.session.peer_closed());
        (String::from_utf8(self.plain).unwrap(), self.session)
    }
}

#[test]
fn openssl_sees_what_the_session_says_was_established() {
    let folder = certificate();
    for version in ["-tls1_2", "-tls1_3"] {
        let server = Server::start(folder.path(), &["-www", version]);
        let client = Client::new(&settings(folder.path())).unwrap();
        for resumed in [false, true] {
            let (page, session) = server.connect(&client).status_page();
            let seen = session.established().unwrap();
            assert_eq!(seen.resumed, resumed, "{version}");
            let kind = if resumed { "Reused" } else { "New" };
            let line = format!("{kind}, {}, Cipher is {}\n", seen.version, seen.cipher);
            assert!(page.contains(&line), "expected {line} in {page}");
        }
    }
}

#[test]
fn openssl_accepts_the_certificate_of_a_client() {
    let folder = certificate();
    let demanding = ["-www", "-Verify", "1", "-verify_return_error", "-CAfile", "cert.pem"];
    let server = Server::start(folder.path(), &demanding);
    let identity = own_identity(folder.path());
    let client = Client::new(&TlsSettings { identity, ..settings(folder.path()) }).unwrap();
    let (page, _) = server.connect(&client).status_page();
    assert!(page.contains("Client certificate"), "{page}");
}

#[test]
fn openssl_and_the_session_follow_each_other_to_new_keys() {
    let folder = certificate();
    let mut server = Server::start(folder.path(), &["-tls1_3"]);
    let client = Client::new(&settings(folder.path())).unwrap();
    let mut connection = server.connect(&client);
    for turn in 0..3 {
        // `K` asks for new keys on both sides. It is a command only when the server reads nothing with
        // it, so its effect is awaited: the session has an answer to send.
        server.commands.write_all(b"K\n").unwrap();
        connection.read_while(|connection| connection.out.is_empty());
        let words = format!("server {turn}\n");
        server.commands.write_all(words.as_bytes()).unwrap();
        connection.read_while(|connection| !connection.plain.ends_with(words.as_bytes()));
        connection.say(format!("client {turn}\n").as_bytes());
        connection.read_while(|_| false);
        line_with(&mut server.output, &format!("client {turn}"));
    }
}
