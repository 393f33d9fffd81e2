//! Network settings from the configuration, for every image that has a network.

use core::net::{Ipv4Addr, Ipv6Addr};

use kairos_config::keys;
#[cfg(feature = "ipv6")]
use kairos_config::settings;
use kairos_config::settings::Address;
use smoltcp::wire::Ipv4Cidr;
#[cfg(feature = "ipv6")]
use smoltcp::wire::Ipv6Cidr;

use crate::stack::{Config, Ipv4};

/// The values of the configured keys. Without the feature `ipv6` those for it are ignored.
pub struct Keys {
    pub mac: Option<[u8; 6]>,
    pub ip: Option<Address>,
    pub ipv4_default_route: Option<Ipv4Addr>,
    pub ip6: Option<(Ipv6Addr, u8)>,
    pub ipv6_default_route: Option<Ipv6Addr>,
}

impl Keys {
    /// The configuration of the stack, with defaults for missing keys. `seed` varies port and
    /// sequence numbers.
    pub fn config(self, seed: u64) -> Config {
        let mac = self.mac.unwrap_or(keys::DEFAULT_MAC);
        let route = self.ipv4_default_route;
        let ipv4 = match self.ip {
            Some(Address::Dhcp) => Ipv4::Dhcp,
            Some(Address::Static(address, prefix)) => Ipv4::Static(Ipv4Cidr::new(address, prefix), route),
            None => {
                let address = Ipv4Cidr::new(keys::DEFAULT_ADDRESS, keys::DEFAULT_PREFIX);
                Ipv4::Static(address, Some(route.unwrap_or(keys::DEFAULT_ROUTE)))
            }
        };
        #[cfg(feature = "ipv6")]
        let (address, prefix) = self.ip6.unwrap_or((settings::link_local(mac), 10));
        Config {
            mac,
            ipv4,
            #[cfg(feature = "ipv6")]
            ipv6: Ipv6Cidr::new(address, prefix),
            #[cfg(feature = "ipv6")]
            route6: self.ipv6_default_route,
            seed,
            fast_path: true,
        }
    }
}

impl Config {
    /// Logs the device's addresses, or how it obtains one.
    pub fn announce(&self) {
        #[cfg(feature = "ipv6")]
        let also = (", ", self.ipv6);
        #[cfg(not(feature = "ipv6"))]
        let also = ("", "");
        match self.ipv4 {
            Ipv4::Static(address, Some(gateway)) => {
                log::info!("network: {address}, gateway {gateway}{}{}", also.0, also.1)
            }
            Ipv4::Static(address, None) => log::info!("network: {address}{}{}", also.0, also.1),
            Ipv4::Dhcp => log::info!("network: address by DHCP{}{}", also.0, also.1),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "ipv6")]
mod tests {
    use super::*;

    const NOTHING: Keys = Keys {
        mac: None,
        ip: None,
        ipv4_default_route: None,
        ip6: None,
        ipv6_default_route: None,
    };

    #[test]
    fn device_without_configuration_has_default_addresses() {
        let config = NOTHING.config(0);
        let Ipv4::Static(address, Some(route)) = config.ipv4 else {
            panic!("no address by default")
        };
        assert!(address.contains_addr(&route));
        assert!(config.ipv6.address().is_unicast_link_local() && config.route6.is_none());
    }

    #[test]
    fn fixed_address_has_only_the_configured_route() {
        let address = Address::Static(Ipv4Addr::new(192, 0, 2, 7), 24);
        let keys = |route| Keys {
            ip: Some(address),
            ipv4_default_route: route,
            ..NOTHING
        };
        assert!(matches!(keys(None).config(0).ipv4, Ipv4::Static(_, None)));
        let route = Ipv4Addr::new(192, 0, 2, 1);
        assert!(matches!(keys(Some(route)).config(0).ipv4, Ipv4::Static(_, Some(given)) if given == route));
    }
}
