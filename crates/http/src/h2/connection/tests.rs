//! What only a connection of great age would show.

use super::*;

#[test]
fn a_connection_whose_ids_are_used_up_takes_no_more_requests() {
    let (mut connection, mut memory, mut out) = (Connection::new(4), Memory::default(), Vec::new());
    connection.open(&mut out);
    connection.next_id = LAST_ID - 2;
    assert_eq!((connection.capacity(), connection.going_away()), (2, None));
    let request = Request { tag: 0, block: b"\x82", body: b"", expect: Expect::Body, observe: false };
    assert!(connection.request(&request, &mut memory, &mut out));
    assert_eq!((connection.capacity(), connection.going_away()), (1, None));
    assert!(connection.request(&request, &mut memory, &mut out));
    assert_eq!((connection.capacity(), connection.going_away()), (0, Some(ErrorCode::NO_ERROR)));
    assert!(!connection.request(&request, &mut memory, &mut out));
}
