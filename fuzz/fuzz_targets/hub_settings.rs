//! hub.toml, and the protocol of a plugin: any text is refused in a line, or understood.
#![no_main]

use std::path::Path;

use kairos_hub::plugins::protocol::Protocol;
use kairos_hub::settings::Settings;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = Settings::read(text, Path::new("/nowhere"), None) {
        assert!(!error.contains('\n'), "{error}");
    }
    if let Err(error) = Protocol::of("fuzz.proto", text) {
        assert!(!error.contains('\n'), "{error}");
    }
});
