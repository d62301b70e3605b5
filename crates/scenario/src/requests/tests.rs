use super::*;

fn parse(text: &str) -> Vec<RequestText> {
    parse_requests(text).unwrap()
}

fn error(text: &str) -> String {
    parse_requests(text).unwrap_err().to_string()
}

fn names(requests: &[RequestText]) -> Vec<&str> {
    requests.iter().map(|request| request.name.as_str()).collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.into(), value.into())
}

const HTTP: &str = "\
# a comment
GET http://a.test/one?x=1
POST http://a.test/two
X-Case: kept: here
x-case:again
@/tmp/body.json

# plimsoll: weight=3 name=checkout
PUT /three
# a comment within
Content-Type: application/json
";

#[test]
fn the_http_format_has_targets_headers_bodies_and_comments() {
    let requests = parse(HTTP);
    assert_eq!(names(&requests), ["GET /one", "POST /two", "checkout"]);
    assert_eq!(requests[0].url, "http://a.test/one?x=1");
    assert_eq!((requests[0].headers.len(), &requests[0].body), (0, &Body::None));
    assert_eq!(requests[1].headers, [pair("X-Case", "kept: here"), pair("x-case", "again")]);
    assert_eq!(requests[1].body, Body::File("/tmp/body.json".into()));
    assert_eq!((requests[2].method.as_str(), requests[2].weight), ("PUT", 3));
    assert_eq!(requests[2].headers, [pair("Content-Type", "application/json")]);
    assert_eq!(requests.iter().map(|request| request.line).collect::<Vec<_>>(), [2, 3, 9]);
}

#[test]
fn the_http_format_needs_no_empty_line_after_a_body_or_before_a_method() {
    let requests = parse("POST /a\n@body\nGET /b\nX-A: 1\nGET http://c.test/c\n");
    assert_eq!(names(&requests), ["POST /a", "GET /b", "GET /c"]);
    assert_eq!(requests[1].headers, [pair("X-A", "1")]);
}

#[test]
fn carriage_returns_and_a_byte_order_mark_are_not_part_of_anything() {
    let requests = parse("\u{feff}GET /a\r\nX-A: 1\r\n\r\nGET /b\r\n");
    assert_eq!(names(&requests), ["GET /a", "GET /b"]);
    assert_eq!(requests[0].headers, [pair("X-A", "1")]);
}

#[test]
fn mistakes_in_the_http_format_are_named_by_line() {
    let check = |text: &str, part: &str| {
        let found = error(text);
        assert!(found.starts_with(part), "{text:?}: {found}");
    };
    check("GET /a\n\nX-A: 1\n", "line 3: `X-A: 1` begins no request");
    check("GET /a\nno header\n", "line 2: `no header` is no header");
    check("GET /a\nX A: 1\n", "line 2: `X A: 1` is no header");
    check("GET a.test/x\n", "line 1: `a.test/x` is no URL");
    check("GET /a b\n", "line 1: `/a b` is no URL");
    check("GET /a\n@\n", "line 2: the body's file has no name");
    check("POST /a\n@body\nX-A: 1\n", "line 3: `X-A: 1` begins no request");
}

#[test]
fn the_json_format_has_a_body_in_base64_and_headers_as_lists() {
    let text = r#"{"method":"POST","url":"http://a.test/x","body":"aGk=","header":{"B":["1","2"],"A":["3"]}}

{"method":"GET","url":"/y?z","weight":4,"name":"the y"}"#;
    let requests = parse(text);
    assert_eq!(requests[0].body, Body::Inline(b"hi".to_vec()));
    assert_eq!(requests[0].headers, [pair("A", "3"), pair("B", "1"), pair("B", "2")]);
    assert_eq!((requests[0].weight, requests[0].name.as_str()), (1, "POST /x"));
    assert_eq!((requests[1].weight, requests[1].name.as_str()), (4, "the y"));
    assert_eq!((requests[1].line, &requests[1].body), (3, &Body::None));
    let nothing = parse(r#"{"method":"GET","url":"/","body":null,"header":null}"#);
    assert_eq!((&nothing[0].body, nothing[0].headers.len()), (&Body::None, 0));
}

#[test]
fn mistakes_in_the_json_format_are_named_by_line() {
    let second = |line: &str| error(&format!("{{\"method\":\"GET\",\"url\":\"/\"}}\n{line}"));
    let check = |line: &str, part: &str| {
        let found = second(line);
        assert!(found.starts_with("line 2: ") && found.contains(part), "{line}: {found}");
    };
    check("{\"method\":\"GET\"}", "missing field `url` at column 16; write an object such as");
    check(r#"{"method":"GET","url":"/","wieght":2}"#, "unknown field `wieght`, expected one of");
    check(r#"{"method":"GET","url":"/","body":"%"}"#, "the `body` is not base64");
    check(r#"{"method":"GET","url":"x y"}"#, "`x y` is no URL");
    check(r#"{"method":"","url":"/"}"#, "`method` is empty");
    check(r#"{"method":"GET","url":"/","weight":0}"#, "`0` is no weight");
    check(r#"{"method":"GET","url":"/","name":" "}"#, "is no name");
    check("GET /", "expected value at column 1");
    assert!(!second("{\"method\":\"GET\"}").contains("line 1"));
}

#[test]
fn a_list_of_urls_and_paths_is_gets() {
    let text = "/\n# plimsoll: name=\"the search\" weight=2k\nhttps://a.test/s?q=1\n\n/u/${random(1, 9)}\n";
    let requests = parse(text);
    assert_eq!(names(&requests), ["GET /", "the search", "GET /u/${random(1, 9)}"]);
    assert!(requests.iter().all(|request| request.method == "GET"));
    assert_eq!(requests.iter().map(|request| request.weight).collect::<Vec<_>>(), [1, 2000, 1]);
    assert_eq!(error("/a\nb\n"), format!("line 2: {}", Fault::Url("b".into())));
}

#[test]
fn a_name_is_made_of_the_path_alone() {
    let name = |url: &str| parse(url)[0].name.clone();
    assert_eq!(name("http://a.test"), "GET /");
    assert_eq!(name("http://a.test?x=1"), "GET /");
    assert_eq!(name("http://a.test:80/a/b?x=http://c/d#e"), "GET /a/b");
    assert_eq!(name("/go?to=http://c.test/d"), "GET /go");
    assert_eq!(name("${env.BASE}/a?b"), "GET ${env.BASE}/a");
}

#[test]
fn settings_that_are_wrong_or_belong_to_nothing_are_refused() {
    let check = |settings: &str, part: &str| {
        let found = error(&format!("/a\n# plimsoll: {settings}\n/b"));
        assert!(found.starts_with("line 2: ") && found.contains(part), "{settings}: {found}");
    };
    check("wieght=3", "`wieght` is no setting (did you mean `weight`?); write");
    check("weight", "`weight` is no setting");
    check("weight=0", "`0` is no weight");
    check("weight=-1", "`-1` is no weight");
    check("weight=2M", "`2000000` is no weight");
    check("name=", "`` is no name");
    check("name=\"a", "is no setting");
    assert!(
        error("/a\n# plimsoll: weight=2\n").starts_with("line 2: the settings belong to the request below")
    );
    assert!(
        error("/a\n# plimsoll: weight=2\n#plimsoll: name=x\n/b").starts_with("line 3: these are the second")
    );
    assert_eq!(names(&parse("# plimsoll is nice\n/a")), ["GET /a"]);
}

#[test]
fn a_file_without_a_known_format_says_which_there_are() {
    assert_eq!(parse_requests("# nothing\n\n"), Err(RequestsError::Empty));
    assert!(error("\nget /a\n").starts_with("line 2: `get /a` begins no format"));
    let long = error(&"x".repeat(100_000));
    assert!(long.len() < 500 && long.contains('…'), "{long}");
    assert!(error("ftp://a.test/\n").contains("is no URL"));
}

#[test]
fn requests_in_json_may_have_comments_between_them() {
    let text =
        "# of the shop\n{\"method\":\"GET\",\"url\":\"/a\"}\n\n# and\n{\"method\":\"GET\",\"url\":\"/b\"}\n";
    let found = parse_requests(text).unwrap();
    assert_eq!(found.iter().map(|request| request.line).collect::<Vec<_>>(), [2, 5]);
}
