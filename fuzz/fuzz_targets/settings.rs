//! The text of configuration keys: an accepted value has the same meaning when formatted and parsed again.
#![no_main]

use kairos_clocking::rtio_clock;
use kairos_config::settings::{self, Address};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(Address::Static(address, prefix)) = settings::address(text) {
        assert!(prefix <= 32);
        let again = format!("{address}/{prefix}");
        assert_eq!(settings::address(&again), Some(Address::Static(address, prefix)));
    }
    if let Some((address, prefix)) = settings::address6(text) {
        assert_eq!(
            settings::address6(&format!("{address}/{prefix}")),
            Some((address, prefix))
        );
    }
    if let Some(address) = settings::ipv4(text) {
        assert_eq!(settings::ipv4(&address.to_string()), Some(address));
    }
    if let Some(address) = settings::ipv6(text) {
        assert_eq!(settings::ipv6(&address.to_string()), Some(address));
    }
    if let Some(mac) = settings::mac(text) {
        assert_eq!(mac[0] & 1, 0);
        assert!(settings::link_local(mac).segments()[0] == 0xfe80);
    }
    if let Some(setting) = rtio_clock::parse(text) {
        assert_eq!(setting.name, text.trim_end());
        for linked in [false, true] {
            let _ = setting.check(125_000_000, true, linked);
        }
    }
    let _ = settings::level(text);
});
