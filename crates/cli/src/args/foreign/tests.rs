use clap::{CommandFactory, Parser};

use super::flags::{FOREIGN_FLAGS, ForeignFlag, Here};
use super::*;
use crate::args::Args;
use crate::exit::UsageError;

fn line(typed: &str) -> Vec<String> {
    typed.split(' ').map(ToOwned::to_owned).collect()
}

fn translated(typed: &str) -> Result<Translated, UsageError> {
    let mut root = Args::command();
    root.build();
    translate(&root, line(typed))
}

/// What a line comes to, its arguments joined by `|` where they hold spaces themselves.
fn accepted(typed: &str) -> String {
    translated(typed).unwrap().line.join("|")
}

fn refused(typed: &str) -> String {
    translated(typed).unwrap_err().to_string()
}

#[test]
fn a_line_of_ab_becomes_one_of_plimsoll() {
    assert_eq!(
        accepted("plimsoll run -kc 100 -n1000 -p order.json -T application/json -A u:p http://h/"),
        "plimsoll|run|-c|100|-n1000|-b|@order.json|-H|Content-Type: application/json|-H|\
         Authorization: Basic dTpw|http://h/"
    );
    assert_eq!(
        accepted("plimsoll run -u put.json -C a=b http://h/"),
        "plimsoll|run|-m|PUT|-b|@put.json|-H|Cookie: a=b|http://h/"
    );
    assert_eq!(accepted("plimsoll run -q -i http://h/"), "plimsoll|run|-q|-m|HEAD|http://h/");
    assert_eq!(
        accepted("plimsoll run -C a=b -i -C c=d http://h/"),
        "plimsoll|run|-H|Cookie: a=b; c=d|-m|HEAD|http://h/"
    );
}

#[test]
fn the_letter_t_in_a_line_of_theirs_is_explained() {
    let remarks = |typed: &str| translated(typed).unwrap().remarks;
    assert!(remarks("plimsoll run -n 100 -c 10 -t 5 http://h/")[0].contains("is here: worker threads"));
    assert_eq!(remarks("plimsoll run -d 10s -c 10 -t 5 http://h/"), Vec::<String>::new());
}

#[test]
fn a_line_of_hey_becomes_one_of_plimsoll() {
    assert_eq!(
        accepted("plimsoll run -z 10s -c 50 -m POST -D body.txt -host=a.test --disable-keepalive http://h/"),
        "plimsoll|run|-d|10s|-c|50|-m|POST|-b|@body.txt|-H|Host: a.test|--no-keepalive|http://h/"
    );
    assert_eq!(
        accepted("plimsoll run -A text/html -cpus 2 -h2 http://h/"),
        "plimsoll|run|-H|Accept: text/html|-t|2|--http2|http://h/"
    );
}

#[test]
fn what_is_always_so_is_accepted_and_said_once() {
    let translated = translated("plimsoll run -k -k -disable-compression http://h/").unwrap();
    assert_eq!(translated.line.join(" "), "plimsoll run http://h/");
    assert_eq!(translated.remarks.len(), 2, "{:?}", translated.remarks);
    assert!(
        translated.remarks[0].starts_with("-k (ab: keep connections open) has no effect"),
        "{:?}",
        translated.remarks
    );
}

#[test]
fn a_clash_is_refused_with_what_to_write_instead() {
    let says = |typed: &str, expected: &str| {
        let words = refused(&format!("plimsoll run {typed} http://h/"));
        assert!(words.contains(expected), "{typed}: {words}");
    };
    says("-q 10 -c 20", "-R 200 ");
    says("-q 10", "-R 500 ");
    says("--connections 20 -q 10", "-R 200 ");
    says("-q 10 --connections=20", "-R 200 ");
    says("-kc 100 -q 10", "-R 1000 ");
    says("-q 10 -kc100", "-R 1000 ");
    says("-cpus 2 -q 10", "-R 500 ");
    says("-T 30s", "`-T 30s` is a time: write --timeout 30s");
    says("-T30", "--timeout 30");
    says("-t 30s", "-d 30s");
    says("-t 30s", "--timeout 30s");
    says("-d {\"a\":1}", "-b BODY");
    says("-z border=1", "500ms");
    says("-cpus 2s", "is a time");
    says("-o csv", "plimsoll export");
    says("-s 30", "--timeout");
    says("-g out.tsv", "plimsoll export");
    says("-X proxy:3128", "--connect-to");
    says("-A name", "user:password");
    says("-a name", "colon");
    says("-p one -u two", "--body");
    says("-z 10s -d 5s", "--duration");
    says("-z 10s -n 5", "leave -n out");
    assert!(refused("plimsoll run http://h/ -p").contains("needs a value: FILE"));
}

#[test]
fn options_of_plimsoll_and_their_values_stay_as_they_are() {
    for typed in [
        "plimsoll run http://h/ --name -k --header -z -b -p",
        "plimsoll run http://h/ --html page.html --markdown - --live 127.0.0.1:1 -q",
        "plimsoll run http://h/ -c100 -d=5s -t 2 -o csv/ -q -- -k",
        "plimsoll http://h/ --name api -t 2",
        "plimsoll sweep http://h/ -n 5 -k",
        "plimsoll diff a b",
        "plimsoll",
    ] {
        assert_eq!(accepted(typed), typed.replace(' ', "|"));
    }
}

#[test]
fn an_option_whose_value_is_left_out_takes_no_other_option_for_it() {
    for native in ["--html", "--markdown", "--live"] {
        let line = translated(&format!("plimsoll run http://h/ {native} -k -n 5")).unwrap();
        assert_eq!(line.line.join(" "), format!("plimsoll run http://h/ {native} -n 5"));
        assert_eq!(line.remarks.len(), 1, "{:?}", line.remarks);
        let line = accepted(&format!("plimsoll run http://h/ {native} -p order.json"));
        assert_eq!(line, format!("plimsoll|run|http://h/|{native}|-b|@order.json"));
    }
}

#[test]
fn the_whole_answer_takes_what_is_about_the_request_and_names_the_command_for_the_rest() {
    assert_eq!(
        accepted("plimsoll -k -T text/plain http://h/"),
        "plimsoll|-H|Content-Type: text/plain|http://h/"
    );
    for typed in ["-c 10", "-z 10s", "-d 10s", "-n 1000", "-R 5k"] {
        let words = refused(&format!("plimsoll {typed} http://h/"));
        assert!(words.contains("plimsoll run URL"), "{typed}: {words}");
    }
}

#[test]
fn every_accepted_option_stands_for_options_that_there_are() {
    let root = Args::command();
    let run = root.find_subcommand("run").unwrap();
    for row in FOREIGN_FLAGS {
        let targets: Vec<&str> = match row.here {
            Here::Same | Here::Own(..) => vec![row.spelling],
            Here::Means(args) => args.iter().copied().filter(|arg| arg.starts_with('-')).collect(),
            _ => Vec::new(),
        };
        for target in targets {
            let is_it = |arg: &clap::Arg| match target.strip_prefix("--") {
                Some(long) => arg.get_long() == Some(long),
                None => arg.get_short().map(|short| format!("-{short}")).as_deref() == Some(target),
            };
            assert!(run.get_arguments().any(is_it), "{} stands for {target}", row.spelling);
        }
    }
    let line = translated("plimsoll run -k -n 5 -c 2 -p f -T t -H a:b -z 1s http://h/");
    assert!(line.is_err(), "-n with -z");
    let line = translated("plimsoll run -k -n 5 -c 2 -p f -T t -H a:b -B 127.0.0.2 http://h/").unwrap().line;
    assert!(Args::try_parse_from(line).is_ok());
}

/// The rows of the table in the document.
fn documented() -> String {
    let row = |row: &ForeignFlag| {
        let typed = row.value.map_or(row.spelling.to_owned(), |value| format!("{} {value}", row.spelling));
        format!("| `{typed}` | {} | {} | {} |\n", row.from, row.there, here(row))
    };
    FOREIGN_FLAGS.iter().map(row).collect()
}

fn here(row: &ForeignFlag) -> String {
    match row.here {
        Here::Same => "the same".to_owned(),
        Here::Own(_, words) => format!("means something else: {words}"),
        Here::Means(args) => {
            let arg = |arg: &&str| arg.replace("{}", row.value.unwrap_or_default());
            let quoted = |arg: String| if arg.contains(' ') { format!("'{arg}'") } else { arg };
            format!("`{}`", args.iter().map(arg).map(quoted).collect::<Vec<_>>().join(" "))
        }
        Here::ContentType => "`-H 'Content-Type: TYPE'`".to_owned(),
        Here::Cookie => "`-H 'Cookie: NAME=VALUE'`, all in one header".to_owned(),
        Here::Credentials => "`-H 'Authorization: Basic …'`".to_owned(),
        Here::CredentialsOrAccept => {
            "with a colon `-H 'Authorization: Basic …'`, else `-H 'Accept: VALUE'`".to_owned()
        }
        Here::NoEffect(words) => format!("no effect: {words}"),
        Here::Refused(words) => format!("refused: {words}"),
    }
}

#[test]
fn the_document_holds_the_table_as_it_is() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ab-and-hey.md");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(&documented()), "put this table into docs/ab-and-hey.md:\n{}", documented());
}
