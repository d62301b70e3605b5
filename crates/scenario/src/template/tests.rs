use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{Order, RowSource, Share, Start};

const CSV: &[u8] = b"id,full name\n1,Ada\n2,Grace Hopper\n";

fn row_source() -> RowSource {
    RowSource { feeder: Arc::new(Feeder::from_csv(CSV).unwrap()), order: Order::Sequential }
}

fn parse(text: &[u8]) -> Result<Template, TemplateError> {
    let env = |name: &str| (name == "HOST").then(|| "h${uuid}".to_owned());
    Template::parse(text, &TemplateScope { feeder: Some(&row_source().feeder), env: &env })
}

fn values() -> Values {
    let mut values = Values::new(1, Share { worker: 0, workers: 1 }, Start::default(), Some(row_source()));
    values.next_request(1_700_000_000_123);
    values
}

fn render(text: &str) -> String {
    let mut out = Vec::new();
    parse(text.as_bytes()).unwrap().render(&mut values(), &mut out);
    String::from_utf8(out).unwrap()
}

fn error(text: &str) -> String {
    parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn variables_become_the_values_of_the_request() {
    assert_eq!(render("/u/${csv.id}?n=${ csv.full name }"), "/u/1?n=Ada");
    assert_eq!(render("${counter}-${counter}"), "0-0");
    assert_eq!(render("at ${timestamp_ms}"), "at 1700000000123");
    assert_eq!(render("${random(7, 7)}${random(-3,-3)}"), "7-3");
}

#[test]
fn each_uuid_is_a_random_one_of_its_own() {
    let text = render("${uuid} ${uuid}");
    let (one, other) = text.split_once(' ').unwrap();
    assert_ne!(one, other);
    let uuid = uuid::Uuid::try_parse(one).unwrap();
    assert_eq!((uuid.get_version_num(), uuid.get_variant()), (4, uuid::Variant::RFC4122));
    assert_eq!(uuid.to_string(), one, "hyphens and small letters");
}

#[test]
fn the_environment_is_put_in_when_parsed_and_is_not_parsed_for_variables() {
    let template = parse(b"http://${env.HOST}/").unwrap();
    assert_eq!(template.constant(), Some(&b"http://h${uuid}/"[..]));
}

#[test]
fn a_second_dollar_takes_the_meaning_away() {
    assert_eq!(render("$${uuid}"), "${uuid}");
    assert_eq!(render("$$${counter}"), "$${counter}");
    assert_eq!(render("$${${counter}}"), "${0}");
    assert_eq!(render("$5 $$ $ {x} $"), "$5 $$ $ {x} $");
}

#[test]
fn only_a_text_without_variables_is_constant() {
    assert_eq!(parse(b"").unwrap().constant(), Some(&b""[..]));
    assert_eq!(parse(b"a$${b}").unwrap().constant(), Some(&b"a${b}"[..]));
    assert_eq!(parse(b"${counter}").unwrap().constant(), None);
}

#[test]
fn a_mistyped_variable_is_named_with_its_place_and_the_likely_one() {
    let text = error("{\n  \"id\": \"${uid}\"\n}");
    assert!(text.contains("`${uid}` at line 2, column 10"), "{text}");
    assert!(text.contains("did you mean `uuid`?"), "{text}");
    assert!(text.contains("`${csv.column}`"), "{text}");
    assert!(!error("${xyz}").contains("did you mean"));
}

#[test]
fn a_mistyped_column_is_named_with_those_there_are() {
    let text = error("${csv.ful name}");
    assert!(text.contains("no column `ful name` (did you mean `full name`?)"), "{text}");
    assert!(text.contains("it has `id`, `full name`"), "{text}");
    let scope = TemplateScope { feeder: None, env: &|_| None };
    let text = Template::parse(b"${csv.id}", &scope).unwrap_err().to_string();
    assert!(text.contains("needs a CSV file, and none was given"), "{text}");
}

#[test]
fn what_cannot_be_a_variable_says_what_to_write() {
    assert!(error("a ${uuid").contains("`${` at line 1, column 3 has no `}`"));
    assert!(error("${uuid\n}").contains("on its line"));
    for range in
        ["random", "random()", "random(1)", "random(2,1)", "random(1,x)", "random(1,2", "random(0,1e3)"]
    {
        let text = error(&format!("${{{range}}}"));
        assert!(text.contains("the smaller first: `${random(1,100)}`"), "{text}");
    }
    assert!(error("${env.NOT_SET}").contains("NOT_SET is not set"));
    let long = error(&format!("${{{}}}", "x\u{7}".repeat(500)));
    assert!(long.len() < 500 && !long.contains('\u{7}'), "{long}");
}

#[test]
fn a_column_the_values_do_not_have_renders_as_nothing() {
    let mut out = Vec::new();
    let mut values = Values::new(1, Share { worker: 0, workers: 1 }, Start::default(), None);
    parse(b"[${csv.id}]").unwrap().render(&mut values, &mut out);
    assert_eq!(out, b"[]");
}

#[test]
fn rendering_into_room_that_is_there_allocates_nothing() {
    let text =
        b"${uuid}${counter}${random(1,100)}${csv.full name}${timestamp_ms}${random(-9223372036854775808,0)}";
    let template = parse(text).unwrap();
    let max_bytes = template.max_bytes();
    let (mut values, mut out) = (values(), Vec::with_capacity(max_bytes));
    let allocations = allocation_counter::measure(|| {
        for _ in 0..1000 {
            out.clear();
            values.next_request(u64::MAX);
            template.render(&mut values, &mut out);
            assert!(out.len() <= max_bytes);
        }
    });
    assert_eq!(allocations.count_total, 0);
}

fn check(text: &str, allowed: fn(u8) -> bool, csv: &str) -> Result<(), UnfitError> {
    let feeder = Arc::new(Feeder::from_csv(csv.as_bytes()).unwrap());
    let env = |name: &str| (name == "TOKEN").then(|| "a\r\nX-Evil: 1".to_owned());
    let scope = TemplateScope { feeder: Some(&feeder), env: &env };
    Template::parse(text.as_bytes(), &scope).unwrap().check(allowed)
}

fn in_header(byte: u8) -> bool {
    !matches!(byte, b'\r' | b'\n')
}

fn visible(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

#[test]
fn a_byte_in_a_csv_value_that_is_not_allowed_is_found_with_its_place() {
    let csv = "id,name\n1,Ada\n2,\"x\r\nX-Evil: 1\"\n";
    let cell = UnfitError::Cell { column: "name".to_owned(), line: 3, byte: b'\r' };
    let error = check("Bearer ${csv.name}", in_header, csv).unwrap_err();
    assert!(error == cell && !error.to_string().contains("Evil"), "{error}");
    assert_eq!(check("Bearer ${csv.id}", in_header, csv), Ok(()), "only columns in use are checked");
    let spaced = UnfitError::Cell { column: "q".to_owned(), line: 2, byte: b' ' };
    assert_eq!(check("/search?q=${csv.q}", visible, "q\nnew york\n"), Err(spaced));
    assert_eq!(check("${csv.q}", in_header, "q\nnew york\n"), Ok(()));
}

#[test]
fn a_line_end_in_the_environment_cannot_write_another_header() {
    let error = check("${env.TOKEN}", in_header, "id\n1\n");
    assert_eq!(error, Err(UnfitError::Text { byte: b'\r' }));
}

#[test]
fn what_variables_without_a_file_write_fits_everywhere() {
    let text = "/${uuid}/${counter}?t=${timestamp_ms}&n=${random(-1,1)}";
    assert_eq!(check(text, visible, "id\n1\n"), Ok(()));
}

proptest! {
    #[test]
    fn a_text_without_openings_is_itself(text in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assume!(memchr::memmem::find(&text, b"${").is_none());
        let template = parse(&text).unwrap();
        prop_assert_eq!(template.constant(), Some(&text[..]));
    }

    #[test]
    fn any_text_can_be_written_with_escapes(text in "[$\\{\\}ab\n]{0,40}") {
        let template = parse(text.replace("${", "$${").as_bytes()).unwrap();
        prop_assert_eq!(template.constant(), Some(text.as_bytes()));
    }
}
