//! The keys of the configuration. `src/contracts/configuration.toml` defines them: their names,
//! which take effect at once, which are checked, which are secret. This module defines the meaning
//! of their text.

use core::net::{Ipv4Addr, Ipv6Addr};

pub use kairos_contracts::configuration::{AtOnce, Key};
use kairos_contracts::configuration::{Kind, IPV4_DEFAULT_ROUTE_DEFAULT, IP_DEFAULT, MAC_DEFAULT};

use crate::auth;
use crate::settings::{self, Address, Level};

/// A key whose value is text.
pub struct Setting<T> {
    pub key: Key,
    parse: fn(&str) -> Option<T>,
}

impl<T> Setting<T> {
    pub const fn new(key: Key, parse: fn(&str) -> Option<T>) -> Self {
        Self { key, parse }
    }

    /// Parses a value; `None` if it is invalid.
    pub fn parse(&self, text: &str) -> Option<T> {
        (self.parse)(text)
    }
}

pub const IP: Setting<Address> = Setting::new(Key::Ip, settings::address);
pub const MAC: Setting<[u8; 6]> = Setting::new(Key::Mac, settings::mac);
pub const IPV4_DEFAULT_ROUTE: Setting<Ipv4Addr> = Setting::new(Key::Ipv4DefaultRoute, settings::ipv4);
pub const IP6: Setting<(Ipv6Addr, u8)> = Setting::new(Key::Ip6, settings::address6);
pub const IPV6_DEFAULT_ROUTE: Setting<Ipv6Addr> = Setting::new(Key::Ipv6DefaultRoute, settings::ipv6);
pub const LOG_LEVEL: Setting<Level> = Setting::new(Key::LogLevel, settings::level);
pub const UART_LOG_LEVEL: Setting<Level> = Setting::new(Key::UartLogLevel, settings::level);
pub const NETBOOT_WAIT: Setting<u32> = Setting::new(Key::NetbootWait, settings::number);

/// The default network settings, for the loader and the runtime.
pub const DEFAULT_ADDRESS: Ipv4Addr = ipv4(IP_DEFAULT.0);
pub const DEFAULT_PREFIX: u8 = IP_DEFAULT.1;
pub const DEFAULT_ROUTE: Ipv4Addr = ipv4(IPV4_DEFAULT_ROUTE_DEFAULT);
pub const DEFAULT_MAC: [u8; 6] = MAC_DEFAULT;

const fn ipv4([a, b, c, d]: [u8; 4]) -> Ipv4Addr {
    Ipv4Addr::new(a, b, c, d)
}

/// The key of this name. The file of a secret key may also have a second, short name in the file
/// system.
pub fn find(name: &str) -> Option<Key> {
    let is_short = |key: &Key| {
        let (name, long) = (name.as_bytes(), key.name().as_bytes());
        name.get(6) == Some(&b'~') && name[..6].eq_ignore_ascii_case(&long[..long.len().min(6)])
    };
    Key::find(name).or_else(|| Key::ALL.iter().copied().find(|key| key.is_secret() && is_short(key)))
}

/// Whether the value of this key is never transmitted.
pub fn is_secret(name: &str) -> bool {
    find(name).is_some_and(Key::is_secret)
}

/// Whether a value of this key is valid, as far as that is checked when it is written. An empty one
/// removes the key.
pub fn is_valid(name: &str, value: &[u8]) -> bool {
    let checked = find(name).filter(|key| key.is_checked() && !value.is_empty());
    checked.is_none_or(|key| makes_sense(key.kind(), value))
}

fn makes_sense(kind: Kind, value: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(value) else {
        return match kind {
            Kind::Secret => auth::key(value).is_some(),
            Kind::Bytes | Kind::DeviceMap | Kind::Image | Kind::Kernel => true,
            _ => false,
        };
    };
    match kind {
        Kind::Address => settings::address(text).is_some(),
        Kind::Address6 => settings::address6(text).is_some(),
        Kind::Ipv4 => settings::ipv4(text).is_some(),
        Kind::Ipv6 => settings::ipv6(text).is_some(),
        Kind::Level => settings::level(text).is_some(),
        Kind::Mac => settings::mac(text).is_some(),
        Kind::Number => settings::number(text).is_some(),
        Kind::Secret => auth::key(value).is_some(),
        // Interpreted elsewhere.
        Kind::Bytes | Kind::Clock | Kind::DeviceMap | Kind::Image | Kind::Kernel => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_any_case_and_secret_ones_by_their_short_name() {
        for key in Key::ALL {
            assert_eq!(find(key.name()), Some(key));
        }
        assert_eq!(find("LOG_Level"), Some(Key::LogLevel));
        assert_eq!(
            (find("auth_k~1"), find("AUTH_K~2")),
            (Some(Key::AuthKey), Some(Key::AuthKey))
        );
        assert_eq!(
            (find("auth_s~1"), find("log_le~1"), find("auth_k"), find("")),
            (None, None, None, None)
        );
        assert!(is_secret("auth_key") && is_secret("auth_k~1") && !is_secret("auth_seed") && !is_secret("of_mine"));
    }

    #[test]
    fn invalid_value_of_checked_key_is_refused() {
        for key in Key::ALL {
            let nonsense = [&b"?"[..], b"\xff"].map(|value| is_valid(key.name(), value));
            assert_eq!(nonsense, [!key.is_checked(); 2], "{}", key.name());
            assert!(is_valid(key.name(), b""));
        }
        assert!(is_valid("log_level", b"debug\n") && is_valid("of_mine", b"\xff"));
        assert!(is_valid("auth_key", &[0xff; 16]) && !is_valid("auth_key", &[b'x'; 65]));
    }

    #[test]
    fn every_documented_key_is_parsed() {
        // One list of settings: each kind of key that is text, and is interpreted here, is parsed
        // by one of them.
        let settings = [
            IP.key,
            MAC.key,
            IPV4_DEFAULT_ROUTE.key,
            IP6.key,
            IPV6_DEFAULT_ROUTE.key,
            LOG_LEVEL.key,
            UART_LOG_LEVEL.key,
            NETBOOT_WAIT.key,
        ];
        for key in Key::ALL {
            let elsewhere = matches!(
                key.kind(),
                Kind::Bytes | Kind::Clock | Kind::DeviceMap | Kind::Image | Kind::Kernel | Kind::Secret
            );
            assert_eq!(settings.contains(&key), !elsewhere, "{}", key.name());
        }
    }

    #[test]
    fn missing_keys_have_their_defaults() {
        assert_eq!(
            IP.parse("10.0.2.15/24"),
            Some(Address::Static(DEFAULT_ADDRESS, DEFAULT_PREFIX))
        );
        assert_eq!(
            (DEFAULT_ROUTE, DEFAULT_MAC),
            (Ipv4Addr::new(10, 0, 2, 2), *b"\x02KAIR\x01")
        );
    }
}
