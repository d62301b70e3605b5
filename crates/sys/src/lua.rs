//! Lua states for scripts that their user trusts.

use mlua::{Lua, LuaOptions, StdLib};

/// Opens a Lua state with the whole standard library: `debug`, LuaJIT's `ffi` and C modules included.
///
/// A script in it can do whatever the process can, as a program of its user's could. It is for scripts that the user
/// names on the command line, not for text that came over a network.
pub fn open_lua() -> Lua {
    // Catching panics would put slower functions, which the JIT cannot compile, in the place of pcall and xpcall.
    let options = LuaOptions::new().catch_rust_panics(false);
    // SAFETY: what the wider library gives up is that no script can break memory: `ffi`, `debug` and C modules let it.
    // Scripts are programs of the user's own choice, run with the user's own rights; like a shared library that he has
    // loaded they are trusted to keep to the rules of what they call. Nothing else depends on the library's narrowness.
    unsafe { Lua::unsafe_new_with(StdLib::ALL, options) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_debug_and_ffi() {
        let lua = open_lua();
        let text = "local ffi = require('ffi')
            ffi.cdef('int abs(int number);')
            return ffi.C.abs(-7) + ffi.sizeof('int32_t[3]'), type(debug.getinfo(1))";
        assert_eq!(lua.load(text).eval::<(i64, String)>().unwrap(), (19, "table".to_owned()));
    }
}
