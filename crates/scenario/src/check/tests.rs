use super::*;

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nVary: a\r\nvary:\tb \r\nX-Empty:\r\n\r\n";
const BODY: &[u8] =
    br#"{"code": 200, "text": "200", "ratio": 2e2, "items": [{"id": "x"}], "none": null, "a/b": true}"#;

const ANSWER: CheckedResponse<'static> =
    CheckedResponse { status: 201, body_bytes: BODY.len() as u64, head: HEAD, body: BODY };

fn holds(check: &str, answer: &CheckedResponse<'_>) -> bool {
    Check::parse(check).unwrap().holds(answer)
}

fn check(held: &[&str], broken: &[&str]) {
    for text in held {
        assert!(holds(text, &ANSWER), "{text}");
    }
    for text in broken {
        assert!(!holds(text, &ANSWER), "{text}");
    }
}

#[test]
fn a_status_is_a_code_a_class_or_one_of_several() {
    check(
        &["status=201", "status=2xx", "status=2XX", "status=404, 201", "status=5xx,2xx"],
        &["status=200", "status=4xx", "status=404,500"],
    );
}

#[test]
fn a_size_is_compared_with_the_whole_body() {
    let answer = CheckedResponse { body_bytes: 10_000, body: b"", ..ANSWER };
    for text in ["size<=10k", "size>=10k", "size=10k", "size>9999", "size< 10001", "size<10.001kB"] {
        assert!(holds(text, &answer), "{text}");
    }
    for text in ["size<10k", "size>10k", "size=9999"] {
        assert!(!holds(text, &answer), "{text}");
    }
}

#[test]
fn a_body_is_compared_whole_or_searched_as_bytes() {
    check(&["body~\"code\": \\d+", "body~^\\{", "body~(?i)CODE"], &["body=code", "body~^code", "body~CODE"]);
    let answer = CheckedResponse { body_bytes: 4, body: b"a=\xff\n", ..ANSWER };
    assert!(holds("body~(?-u)\\xff", &answer));
    assert!(!holds("body=a=", &answer));
    assert!(holds("body=a=b", &CheckedResponse { body_bytes: 3, body: b"a=b", ..ANSWER }));
}

#[test]
fn a_json_value_is_found_by_its_pointer_and_compared_as_json_or_text() {
    check(
        &[
            "json:/code=200",
            "json:/code=2e2",
            "json:/text=200",
            "json:/ratio=200",
            "json:/items/0/id=x",
            "json:/items=[{\"id\":\"x\"}]",
            "json:/none=null",
            "json:/a~1b=true",
        ],
        &[
            "json:/code=20",
            "json:/absent=200",
            "json:/absent=null",
            "json:/none=",
            "json:/items/1/id=x",
            "json:=1",
        ],
    );
}

#[test]
fn a_json_document_is_read_to_its_end_and_as_rfc_6901_says() {
    let cases: &[(&str, &[u8], bool)] = &[
        ("json:=1", b" 1 ", true),
        ("json:=1", b"1 2", false),
        ("json:=1", b"", false),
        ("json:/a=1", b"{\"a\":1", false),
        ("json:/a=1", b"{\"a\":1}}", false),
        ("json:/a/0=1", b"{\"a\":[1,2", false),
        ("json:/a=1", b"{\"b\":{\"a\":2},\"a\":1}", true),
        ("json:/a=1", b"{\"a\":1,\"a\":2}", false),
        ("json:/a=1", b"{\"\\u0061\":1}", true),
        ("json:/a/b/c=1", b"{\"a\":{\"x\":[],\"b\":{\"c\":1.0}}}", true),
        ("json:/a/b=1", b"{\"a\":\"b\"}", false),
        ("json:/a/b=1", b"{\"a\":null}", false),
        ("json:/1=1", b"[0,1,2]", true),
        ("json:/01=1", b"[0,1,2]", false),
        ("json:/+1=1", b"[0,1,2]", false),
        ("json:/3=1", b"[0,1,2]", false),
        ("json:/1=1", b"{\"1\":1}", true),
        ("json:/~01=1", b"{\"~1\":1}", true),
        ("json:/=1", b"{\"\":1}", true),
    ];
    for (text, body, held) in cases {
        let answer = CheckedResponse { body_bytes: body.len() as u64, body, ..ANSWER };
        assert_eq!(holds(text, &answer), *held, "{text} {}", String::from_utf8_lossy(body));
    }
}

#[test]
fn a_header_is_found_in_any_case_and_in_each_of_its_lines() {
    check(
        &[
            "header:content-type~json$",
            "header:Content-Type=application/json",
            "header:Vary=a",
            "header:Vary= b",
            "header:X-Empty=",
        ],
        &["header:Vary=a, b", "header:Type~json", "header:Absent~"],
    );
}

#[test]
fn a_body_that_was_not_kept_whole_holds_no_check_of_it() {
    let answer = CheckedResponse { body_bytes: BODY.len() as u64 + 1, ..ANSWER };
    for text in ["body~code", "body=x", "json:/code=200"] {
        assert!(!holds(text, &answer), "{text}");
    }
    assert!(holds("status=201", &answer));
    assert!(holds("header:Vary=a", &answer));
}

#[test]
fn checks_say_how_much_of_the_response_they_read() {
    let needs = |text: &str| Check::parse(text).unwrap().needs();
    assert_eq!(needs("status=2xx"), Needs::Nothing);
    assert_eq!(needs("size<1k"), Needs::Nothing);
    assert_eq!(needs("header:A~b"), Needs::Head);
    assert_eq!(needs("body~b"), Needs::Body);
    assert_eq!(needs("json:/a=1"), Needs::Body);
    assert_eq!(Some(Needs::Body), ["status=200", "body~b", "header:A~b"].map(needs).into_iter().max());
}

#[test]
fn checks_print_as_they_were_typed() {
    for text in ["status=2xx, 301", "size<=1.5M", "json:/a/b=\"c\"", "header:A~^b", "body~a=~b"] {
        assert_eq!(Check::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn what_is_no_check_says_what_would_be() {
    let error = |text: &str| Check::parse(text).unwrap_err().to_string();
    for text in
        ["", "status", "status~200", "code=200", "body", "bodies=1", "size", "json:/a", "json", "header:A"]
    {
        assert!(error(text).contains("is no check; write status=200"), "{text}");
    }
    for text in [
        "status=",
        "status=20",
        "status=600",
        "status=999",
        "status=2x",
        "status=9xx",
        "status=+20",
        "status=0200",
        "status=200,",
    ] {
        assert!(error(text).contains("is no status; write a code from 100 to 599 such as 200"), "{text}");
    }
    for text in ["size<", "size<x", "size=<1", "size<>1", "size<1.5", "size<-1", "size<0"] {
        assert!(error(text).contains("is no size in bytes"), "{text}");
    }
    assert!(error("header:=x").contains("is no header name"));
    assert!(error("header:A B=x").contains("is no header name"));
    for text in ["a", "/~", "/a~", "/~2", "/a~b", "/~~0", "/a/~x/0"] {
        let expected = format!("`{text}` is no JSON pointer");
        assert!(error(&format!("json:{text}=1")).contains(&expected), "{text}");
    }
    assert_eq!(error("body~(a"), "`(a` is no regular expression: unclosed group");
}

#[test]
fn checks_of_status_size_headers_and_text_allocate_nothing_after_the_first_time() {
    let texts = ["status=2xx", "size<1M", "header:Vary~b", "body~co.e", "body=x"];
    let checks = texts.map(|text| Check::parse(text).unwrap());
    let holding = || checks.iter().filter(|check| check.holds(&ANSWER)).count();
    assert_eq!(holding(), 4);
    let allocations = allocation_counter::measure(|| assert_eq!(holding(), 4));
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn a_check_of_json_does_not_build_the_document() {
    let item = "{\"id\": [1, \"a\"], \"name\": {\"x\": null}},";
    let body = format!("{{\"items\": [{}0], \"code\": 200}}", item.repeat(1000));
    let answer = CheckedResponse { body_bytes: body.len() as u64, body: body.as_bytes(), ..ANSWER };
    let check = Check::parse("json:/code=200").unwrap();
    let allocations = allocation_counter::measure(|| assert!(check.holds(&answer)));
    assert!(allocations.count_total <= 2, "{}", allocations.count_total);
}
