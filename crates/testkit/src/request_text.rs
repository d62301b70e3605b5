//! Requests as text that can be compared.

use std::io::BufRead;

/// Reads one request whose body is as long as its Content-Length says: its first line, its header fields in the order of
/// their text (scripts give them in the order of Lua's tables), and its body. `None` at the end of the connection.
pub fn read_request(reader: &mut impl BufRead) -> Option<String> {
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        match String::from_utf8_lossy(&line).trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let mut body = vec![0; lines.iter().find_map(|line| content_length(line)).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    lines.get_mut(1..)?.sort_unstable();
    lines.push(String::from_utf8_lossy(&body).into_owned());
    Some(lines.join("\n"))
}

fn content_length(line: &str) -> Option<usize> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_one_after_the_other_until_one_is_not_whole() {
        let text =
            "POST /a HTTP/1.1\r\nB: 1\r\nA: 2\r\nContent-Length: 2\r\n\r\nokGET / HTTP/1.1\r\n\r\nGET /c";
        let mut reader = text.as_bytes();
        let first = read_request(&mut reader).unwrap();
        assert_eq!(first, "POST /a HTTP/1.1\nA: 2\nB: 1\nContent-Length: 2\nok");
        assert_eq!(read_request(&mut reader).unwrap(), "GET / HTTP/1.1\n");
        assert_eq!(read_request(&mut reader), None);
    }
}
