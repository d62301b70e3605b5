//! Lua states for trusted scripts.

use mlua::{Lua, LuaOptions, StdLib};

/// Opens a Lua state with the whole standard library: `debug`, LuaJIT's `ffi` and C modules included.
///
/// A script in it can do whatever the process can. Use it only for scripts that the user names on the command line, never for
/// text from a network.
pub fn open_lua() -> Lua {
    // Catching panics would replace pcall and xpcall by slower functions that the JIT cannot compile.
    let options = LuaOptions::new().catch_rust_panics(false);
    // SAFETY: `ffi`, `debug` and C modules let a script break memory. Scripts are programs that the user chose, run with
    // the user's rights, and are trusted as a shared library that the user loads is. No other code relies on the limits
    // of the narrower library.
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
