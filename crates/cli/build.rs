//! Links the binary so that Lua's modules written in C find Lua in it.

fn main() {
    // Such a module takes the functions of Lua's C interface from the program that loads it. Nothing else is exported.
    for functions in ["lua_*", "luaL_*"] {
        println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol={functions}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
