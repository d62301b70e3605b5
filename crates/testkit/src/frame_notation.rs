//! How case files write the frames of HTTP/2: one on each line, `TYPE STREAM` and then its parts.
//!
//! Parts are flags by name; `"text"`, bytes as hex, `zeros:N`, `u32:N`, `u16:N`; `status:N` and
//! `field:NAME=VALUE` as literals of a header block; `len:N` makes the frame lie about its length.
//! `raw` in place of type and stream makes bytes without a frame's header, and a number before `×`
//! repeats the line.
#![expect(clippy::expect_used, reason = "a test without its case has nothing to show")]

/// The frame types of RFC 9113, section 6, by their numbers.
pub(crate) const FRAME_NAMES: [&str; 10] = [
    "data",
    "headers",
    "priority",
    "rst_stream",
    "settings",
    "push_promise",
    "ping",
    "goaway",
    "window_update",
    "continuation",
];

/// The bytes of frames in the notation of case files; empty lines mean nothing.
///
/// # Panics
/// When a line is not in this notation.
pub fn frame_bytes(lines: &str) -> Vec<u8> {
    lines.lines().filter(|line| !line.is_empty()).flat_map(line_bytes).collect()
}

fn line_bytes(line: &str) -> Vec<u8> {
    let (count, line) = match line.split_once("× ") {
        Some((count, line)) => (count.trim().parse().expect("a count"), line),
        None => (1, line),
    };
    let mut parts = parts(line).into_iter();
    let first = parts.next().expect("a type");
    if first == "raw" {
        return parts.flat_map(|part| part_bytes(&part)).collect::<Vec<_>>().repeat(count);
    }
    let stream = parts.next().expect("a stream").parse().expect("a stream's number");
    let (mut flags, mut len, mut payload) = (0, None, Vec::new());
    for part in parts {
        match (flag(&part), part.strip_prefix("len:")) {
            (Some(flag), _) => flags |= flag,
            (_, Some(lie)) => len = Some(lie.parse::<u32>().expect("a length")),
            _ => payload.extend(part_bytes(&part)),
        }
    }
    frame(kind(&first), flags, stream, &payload, len).repeat(count)
}

/// The number of a frame type by its name, or as it stands.
fn kind(name: &str) -> u8 {
    let known = FRAME_NAMES.iter().position(|known| *known == name);
    known.map_or_else(|| name.parse().expect("a frame type"), |at| at as u8)
}

/// A frame whose header may lie about the payload's length.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], lie: Option<u32>) -> Vec<u8> {
    let len = lie.unwrap_or_else(|| u32::try_from(payload.len()).expect("a short payload")).to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Splits at spaces outside of quotes.
fn parts(line: &str) -> Vec<String> {
    let (mut parts, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        quoted ^= letter == '"';
        match letter {
            ' ' if !quoted => parts.push(String::new()),
            _ => parts.last_mut().expect("never empty").push(letter),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn flag(part: &str) -> Option<u8> {
    match part {
        "ack" | "end_stream" => Some(0x1),
        "end_headers" => Some(0x4),
        "padded" => Some(0x8),
        "prioritized" => Some(0x20),
        _ => None,
    }
}

fn part_bytes(part: &str) -> Vec<u8> {
    if let Some(text) = part.strip_prefix('"') {
        return text.trim_end_matches('"').as_bytes().to_vec();
    }
    match part.split_once(':') {
        Some(("zeros", count)) => vec![0; count.parse().expect("a count")],
        Some(("u32", value)) => value.parse::<u32>().expect("a number").to_be_bytes().to_vec(),
        Some(("u16", value)) => value.parse::<u16>().expect("a number").to_be_bytes().to_vec(),
        Some(("status", value)) => literal(":status", value),
        Some(("field", field)) => {
            let (name, value) = field.split_once('=').expect("name=value");
            literal(name, value.trim_matches('"'))
        }
        _ => hex(part),
    }
}

fn literal(name: &str, value: &str) -> Vec<u8> {
    let string = |text: &str| [&[u8::try_from(text.len()).expect("below 127")], text.as_bytes()].concat();
    [vec![0], string(name), string(value)].concat()
}

/// Bytes from hexadecimal digits; spaces between them mean nothing.
///
/// # Panics
/// When there is another character.
pub fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<_> = digits.chars().filter(|letter| *letter != ' ').collect();
    let digit = |letter: char| letter.to_digit(16).expect("a hex digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) * 16 + digit(pair[1])).collect()
}
