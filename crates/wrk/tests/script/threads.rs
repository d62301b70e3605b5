//! What passes between the main state and the threads.

use std::net::SocketAddr;

use plimsoll_wrk::script::{ScriptError, ThreadState};

use super::{Bench, found_at, next_line, nothing};

fn three() -> Bench {
    Bench::with_threads(3)
}

/// The text of the error that a script's loading ends with.
fn refusal(text: &str) -> String {
    Bench::new().load(text).unwrap_err().to_string()
}

#[test]
fn setup_runs_once_per_thread_and_before_its_init() {
    let text = "local count = 0
        function setup(thread) count = count + 1 thread:set('id', count) end
        function init() wrk.path = '/' .. id end";
    let (_, mut threads) = three().load(text).unwrap();
    let lines: Vec<_> = threads.iter_mut().map(next_line).collect();
    assert_eq!(lines, ["GET /1 HTTP/1.1", "GET /2 HTTP/1.1", "GET /3 HTTP/1.1"]);
}

#[test]
fn nested_tables_numbers_truths_and_nil_are_carried_over_by_value() {
    let text = "local shared = {list = {'a', {deep = true}}, half = 0.5, [2] = 'two'}
        function setup(thread) thread:set('t', shared) thread:set('gone', nil) shared.half = 1 end
        gone = 1
        function init()
          wrk.path = '/' .. t.list[1] .. tostring(t.list[2].deep) .. t.half .. t[2] .. tostring(gone)
        end";
    assert_eq!(next_line(&mut Bench::new().thread(text)), "GET /atrue0.5twonil HTTP/1.1");
}

#[test]
fn what_belongs_to_a_state_cannot_be_transferred() {
    let set = |value: &str| refusal(&format!("function setup(thread) thread:set('x', {value}) end"));
    assert!(set("print").contains("cannot transfer 'function' to thread"));
    assert!(set("{1, {thread}}").contains("cannot transfer 'userdata' to thread"));
    let endless = "function setup(thread) local t = {} t.t = t thread:set('x', t) end";
    assert!(refusal(endless).contains("nested more than 64 deep"));
}

#[test]
fn only_addr_can_be_assigned_and_only_an_address_to_it() {
    assert!(refusal("function setup(thread) thread.name = 1 end").contains("cannot set 'name' on thread"));
    let text = refusal("function setup(thread) thread.addr = '127.0.0.1:80' end");
    assert!(text.contains("not a string: use wrk.lookup"), "{text}");
}

#[test]
fn a_thread_connects_to_the_address_that_setup_gave_it() {
    let (bench, other) = (Bench::new(), Bench::new());
    let text = format!(
        "function setup(thread)
           assert(tostring(thread.addr) == '{}')
           thread.addr = wrk.lookup('127.0.0.1', '{}')[1]
         end",
        bench.address(),
        other.address().port()
    );
    assert_eq!(bench.thread(&text).address(), other.address());
}

#[test]
fn threads_begin_with_the_first_address_that_accepts_connections_wherever_the_script_looks() {
    let mut bench = Bench::new();
    let closed = SocketAddr::from(([127, 0, 0, 1], 1));
    bench.options.url.host = "no-such-name.invalid".to_owned();
    assert_eq!(bench.thread(&found_at(&[closed, bench.address()])).address(), bench.address());
}

#[test]
fn a_thread_stops_itself_while_it_runs_but_not_before() {
    let text = "function init() wrk.thread:stop() end\nfunction delay() wrk.thread:stop() return 0 end";
    let (_, mut threads) = three().load(text).unwrap();
    assert!(threads.iter().all(|thread| !thread.stopped()));
    threads[1].delay().unwrap();
    let stopped: Vec<_> = threads.iter().map(ThreadState::stopped).collect();
    assert_eq!(stopped, [false, true, false]);
    // The first request is made once before the load, to see how many it is.
    let (_, threads) = three().load("function request() wrk.thread:stop() return wrk.format() end").unwrap();
    assert!(threads.iter().all(|thread| !thread.stopped()));
}

#[test]
fn threads_can_run_elsewhere_and_come_back_for_done_to_read() {
    let text = "local threads = {}
        function setup(thread) threads[#threads + 1] = thread end
        local n = 0
        function request() n = n + 1 seen = {count = n} return wrk.format() end
        function done()
          local counts = {}
          for i, thread in ipairs(threads) do counts[i] = thread:get('seen').count end
          error(table.concat(counts, ' '))
        end";
    let (mut script, threads) = three().load(text).unwrap();
    let workers = threads.into_iter().enumerate().map(|(index, mut thread)| {
        std::thread::spawn(move || {
            (0..index).for_each(|_| drop(next_line(&mut thread)));
            thread
        })
    });
    let back = workers.map(|worker| worker.join().unwrap()).collect();
    let message = script.done(back, &nothing()).unwrap_err();
    // The first thread was asked once more, for the depth of its pipeline; no other thread has a count of it.
    assert!(matches!(message, ScriptError::Lua { ref text, .. } if text.ends_with(": 1 1 2")), "{message}");
}

#[test]
fn a_thread_that_is_gone_says_so() {
    let text = "function setup(thread) mine = thread end\nfunction done() mine:get('x') end";
    let (mut script, threads) = Bench::new().load(text).unwrap();
    drop(threads);
    let message = script.done(Vec::new(), &nothing());
    assert!(message.unwrap_err().to_string().contains("the thread is gone"));
}
