//! Scripts in the binary: figures, failures, and the wider standard library.

use std::process::Command;

use plimsoll_testkit::Nginx;

use crate::caller::{Caller, number};

#[test]
fn done_gets_the_figures_of_the_text() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let script = caller.script(
        "function done(summary, latency, requests)
           local e = summary.errors
           print(('summed %d %d %d %d'):format(summary.requests, summary.duration, summary.bytes,
             e.connect + e.read + e.write + e.status + e.timeout))
           print(('p99 %.2f of %d'):format(latency:percentile(99) / 1000, #latency))
         end",
    );
    let called = caller
        .expect(0, &["-t2", "-c4", "-d1s", "-L", "-s", &script, &format!("http://{}/", nginx.address())]);
    let shown = called.words("summed");
    assert_eq!(shown[1].parse(), Ok(called.requests()));
    assert_eq!((shown[2], shown[4]), ("1000000", "0"));
    let (p99, line) = (number(called.words("p99")[1]), number(called.words("99%")[1]));
    assert!((p99 - line).abs() <= 0.01, "{p99} {line}");
    let after_text = called.out.split_once("Transfer/sec").unwrap().1;
    assert!(after_text.contains("summed"), "{}", called.out);
}

#[test]
fn a_script_that_fails_under_load_is_reported_once_and_the_rest_is_kept() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let script = caller.script(
        "local left = 50
         function request() left = left - 1 if left == 0 then error('used up') end return wrk.format() end",
    );
    let url = format!("http://{}/", nginx.address());
    let called = caller.expect(1, &["-t1", "-c2", "-d10m", "-s", &script, &url]);
    assert_eq!(called.err.matches("test.lua:2: used up").count(), 1, "{}", called.err);
    assert_eq!((called.requests(), called.socket_errors()), (48, [0; 4]));
}

#[test]
fn a_script_that_fails_at_its_end_costs_the_exit_code_alone() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let script = caller.script("function done() error('no sum') end");
    let url = format!("http://{}/", nginx.address());
    let called = caller.expect(1, &["-t1", "-c2", "-d1s", "-s", &script, &url]);
    assert!(called.err.contains("test.lua:1: no sum"), "{}", called.err);
    assert!(called.requests() > 0);
}

#[test]
fn ffi_and_debug_are_there_as_in_wrk() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let script = caller.script(
        "local ffi = require('ffi')
         ffi.cdef('int getpid(void);')
         function init() wrk.path = '/pid' .. type(ffi.C.getpid()) .. type(debug.traceback) end
         function done() print('path ' .. tostring(ffi.C.getpid() > 1)) end",
    );
    let url = format!("http://{}/", nginx.address());
    let called = caller.expect(0, &["-t1", "-c1", "-d1s", "-s", &script, &url]);
    assert_eq!(called.words("path"), ["path", "true"]);
}

/// A module of one function, which adds one.
const MODULE: &str = "
typedef struct lua_State lua_State;
extern double luaL_checknumber(lua_State *, int);
extern void lua_pushnumber(lua_State *, double);
extern void lua_pushcclosure(lua_State *, int (*)(lua_State *), int);
static int next(lua_State *lua) { lua_pushnumber(lua, luaL_checknumber(lua, 1) + 1); return 1; }
int luaopen_next(lua_State *lua) { lua_pushcclosure(lua, next, 0); return 1; }
";

#[test]
fn modules_written_in_c_find_lua_in_the_binary() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    std::fs::write(caller.folder().join("next.c"), MODULE).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o", "next.so", "next.c"]).current_dir(caller.folder());
    assert!(compiler.status().unwrap().success());
    let script =
        caller.script("local next = require('next')\nfunction done() print('after 41', next(41)) end");
    let url = format!("http://{}/", nginx.address());
    let called = caller.expect(0, &["-t1", "-c1", "-d1s", "-s", &script, &url]);
    assert_eq!(called.words("after"), ["after", "41", "42"]);
}

#[test]
fn at_a_rate_a_script_s_delay_is_not_called_as_in_wrk2() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let script = caller.script("function delay() return 600000 end");
    let url = format!("http://{}/", nginx.address());
    let called = caller.expect(0, &["-t1", "-c2", "-d1s", "-R100", "-s", &script, &url]);
    // With the delay it would be two. A machine that stalls at the end of the second sends fewer than a hundred in time.
    assert!((11..=110).contains(&called.requests()), "{called:?}");
}
