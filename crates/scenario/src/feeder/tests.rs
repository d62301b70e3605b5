use super::*;

fn feeder(text: &str) -> Feeder {
    Feeder::from_csv(text.as_bytes()).unwrap()
}

fn error(text: &[u8]) -> String {
    Feeder::from_csv(text).unwrap_err().to_string()
}

#[test]
fn cells_are_found_by_row_and_column_as_they_stand_in_the_file() {
    let feeder = feeder("id, name\n1,Ada\n2,\"Lovelace, \"\"A\"\"\"\n3,\n");
    assert_eq!(feeder.columns(), ["id", "name"]);
    assert_eq!(feeder.rows(), 3);
    assert_eq!(feeder.cell(0, 0), b"1");
    assert_eq!(feeder.cell(1, 1), b"Lovelace, \"A\"");
    assert_eq!(feeder.cell(2, 1), b"");
}

#[test]
fn what_is_not_there_is_empty_and_not_a_neighbour() {
    let feeder = feeder("a,b\n1,2\n3,4\n");
    assert_eq!(feeder.cell(0, 2), b"");
    assert_eq!(feeder.cell(2, 0), b"");
    assert_eq!(feeder.line(2), None);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_name() {
    assert_eq!(feeder("\u{feff}id\n1\n").columns(), ["id"]);
}

#[test]
fn values_need_not_be_utf8() {
    let feeder = Feeder::from_csv(b"id\n\xff\xfe\n").unwrap();
    assert_eq!(feeder.cell(0, 0), b"\xff\xfe");
}

#[test]
fn rows_know_the_line_they_begin_in_whatever_the_line_ends() {
    for end in ["\n", "\r\n"] {
        let text = ["id,note", "1,\"two", "lines\"", "", "2,x", "3,y"].join(end);
        let feeder = feeder(&text);
        let lines: Vec<_> = (0..feeder.rows()).map(|row| feeder.line(row).unwrap()).collect();
        assert_eq!(lines, [2, 5, 6], "{end:?}");
    }
}

#[test]
fn a_row_with_too_few_or_too_many_cells_is_named_by_its_line() {
    assert!(error(b"a,b\n1,2\n3\n").starts_with("line 3 of the CSV file has 1 cells where line 1 names 2"));
    assert!(error(b"a,b\r\n1,2\r\n\r\n3,4,5\r\n").starts_with("line 4 of the CSV file has 3 cells"));
}

#[test]
fn files_without_names_or_rows_are_refused() {
    assert!(error(b"").contains("is empty"));
    assert!(error(b"a,b\n").contains("no row of values"));
    assert!(error(b"a,,c\n1,2,3\n").starts_with("column 2 "));
    assert!(error(b"a,\xff\n1,2\n").starts_with("column 2 "));
    assert!(error(b"a,b,a\n1,2,3\n").contains("named `a`"));
}

#[test]
fn a_quote_without_an_end_does_not_swallow_the_rows_after_it() {
    assert!(error(b"id\n1\n\"2\n3\n4\n").contains("line 3"));
    assert!(error(b"a,b\n1,\"2\n3,4\n").contains("line 2"));
    assert!(error(b"\"id\n1\n2\n").contains("line 1"));
    for (text, rows) in [
        ("id\n\"a \"\"b\"\" c\"\n", 1),
        ("id\n1\na\"b\n", 2),
        ("id\n\"1\n2\"", 1),
        ("a,b\n5\" pipe,\"big\"", 1),
        ("a,b\n\"big\",5\" pipe", 1),
    ] {
        assert_eq!(feeder(text).rows(), rows, "{text}");
    }
}
