//! Parsers of configuration values (wire protocols, section 6). Trailing white space is ignored.

use core::net::{Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

/// Value of `ip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    Dhcp,
    /// Address and length of the network's prefix in bits.
    Static(Ipv4Addr, u8),
}

/// A log level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// `a.b.c.d`, `a.b.c.d/prefix` or `use_dhcp`. Without a prefix every address is on the link (prefix 0).
pub fn address(text: &str) -> Option<Address> {
    let text = text.trim_end();
    if text == "use_dhcp" {
        return Some(Address::Dhcp);
    }
    let (address, prefix) = with_prefix::<Ipv4Addr>(text, 32)?;
    Some(Address::Static(address, prefix.unwrap_or(0)))
}

/// `a.b.c.d`.
pub fn ipv4(text: &str) -> Option<Ipv4Addr> {
    text.trim_end().parse().ok()
}

/// `addr/prefix`; without a prefix, 64.
pub fn address6(text: &str) -> Option<(Ipv6Addr, u8)> {
    let (address, prefix) = with_prefix::<Ipv6Addr>(text.trim_end(), 128)?;
    Some((address, prefix.unwrap_or(64)))
}

/// An IPv6 address.
pub fn ipv6(text: &str) -> Option<Ipv6Addr> {
    text.trim_end().parse().ok()
}

fn with_prefix<A: FromStr>(text: &str, bits: u8) -> Option<(A, Option<u8>)> {
    match text.split_once('/') {
        None => Some((text.parse().ok()?, None)),
        Some((address, prefix)) => {
            let prefix = prefix.parse().ok().filter(|prefix| *prefix <= bits)?;
            Some((address.parse().ok()?, Some(prefix)))
        }
    }
}

/// `xx:xx:xx:xx:xx:xx`, or with `-`. Group addresses are invalid for a device.
pub fn mac(text: &str) -> Option<[u8; 6]> {
    let mut bytes = [0; 6];
    let mut parts = text.trim_end().split([':', '-']);
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2 && !part.starts_with('+'))?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    (parts.next().is_none() && bytes[0] & 1 == 0).then_some(bytes)
}

/// A number.
pub fn number(text: &str) -> Option<u32> {
    text.trim_end().parse().ok()
}

/// The link-local IPv6 address of a MAC address (EUI-64).
pub fn link_local(mac: [u8; 6]) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac;
    Ipv6Addr::from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xff, 0xfe, d, e, f])
}

/// A log level, case-insensitive.
pub fn level(text: &str) -> Option<Level> {
    const NAMES: [(&str, Level); 6] = [
        ("OFF", Level::Off),
        ("ERROR", Level::Error),
        ("WARN", Level::Warn),
        ("INFO", Level::Info),
        ("DEBUG", Level::Debug),
        ("TRACE", Level::Trace),
    ];
    let name = text.trim_end();
    NAMES
        .iter()
        .find(|(n, _)| n.eq_ignore_ascii_case(name))
        .map(|(_, level)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn address_text_is_parsed_or_rejected() {
        let host = Ipv4Addr::new(192, 168, 1, 52);
        assert_eq!(address("192.168.1.52\r\n"), Some(Address::Static(host, 0)));
        assert_eq!(address("192.168.1.52/24"), Some(Address::Static(host, 24)));
        assert_eq!(address("use_dhcp "), Some(Address::Dhcp));
        for bad in [
            "",
            "1.2.3",
            "1.2.3.4/33",
            "1.2.3.4/",
            "USE_DHCP",
            " 1.2.3.4",
            "1.2.3.256",
        ] {
            assert_eq!(address(bad), None, "{bad}");
        }
        assert_eq!(ipv4("10.0.0.1\n"), Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!(address6("fd00::1/48"), Some(("fd00::1".parse().unwrap(), 48)));
        assert_eq!(address6("fd00::1/129"), None);
        assert_eq!(ipv6("fd00::2"), Some("fd00::2".parse().unwrap()));
    }

    #[test]
    fn mac_address_text_is_parsed_or_rejected() {
        let expected = [2, 0x4b, 0x41, 0x49, 0x52, 0xfe];
        assert_eq!(mac("02:4b:41:49:52:fe"), Some(expected));
        assert_eq!(mac("02-4B-41-49-52-FE\n"), Some(expected));
        for bad in [
            "",
            "02:4b:41:49:52",
            "02:4b:41:49:52:fe:00",
            "0:4b:41:49:52:fe",
            "03:00:00:00:00:01",
            "+2:00:00:00:00:01",
        ] {
            assert_eq!(mac(bad), None, "{bad}");
        }
        assert_eq!(
            link_local(expected),
            "fe80::4b:41ff:fe49:52fe".parse::<Ipv6Addr>().unwrap()
        );
    }

    #[test]
    fn log_level_text_is_parsed_or_rejected() {
        assert_eq!(
            (level("debug"), level("OFF\n"), level("Warn")),
            (Some(Level::Debug), Some(Level::Off), Some(Level::Warn))
        );
        assert_eq!((level(""), level("INFORMATION")), (None, None));
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,40}") {
            let _ = (address(&text), address6(&text), mac(&text), level(&text), ipv4(&text), ipv6(&text));
        }
    }
}
