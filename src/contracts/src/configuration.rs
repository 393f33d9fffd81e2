//! Keys of the configuration.
//!
//! Generated from `src/contracts/configuration.toml` by `src/contracts/generate.py`: do not edit.

/// A key of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// `ip`: `a.b.c.d`, `a.b.c.d/prefix` (without prefix, all addresses are considered on-link) or `use_dhcp`.
    Ip,
    /// `mac`: Ethernet address, `xx:xx:xx:xx:xx:xx`; the default is locally administered: `02`, then KAIR, 1.
    Mac,
    /// `ipv4_default_route`: `a.b.c.d`; ignored with DHCP.
    Ipv4DefaultRoute,
    /// `ip6`: additional IPv6 address, `address/prefix` (default prefix: 64); the link-local address always exists.
    Ip6,
    /// `ipv6_default_route`: IPv6 address.
    Ipv6DefaultRoute,
    /// `startup_kernel`: kernel library that runs once at boot.
    StartupKernel,
    /// `idle_kernel`: kernel library that runs while no client is connected.
    IdleKernel,
    /// `rtio_clock`: source of the RTIO clock.
    RtioClock,
    /// `log_level`: level of the log: TRACE, DEBUG, INFO, WARN, ERROR or OFF.
    LogLevel,
    /// `uart_log_level`: level of the log on the serial console.
    UartLogLevel,
    /// `routing_table`: ARTIQ's routing table, see below: the boards are numbered by the gateware, and the log reports
    /// whether the table agrees.
    RoutingTable,
    /// `device_map`: names of RTIO channels used in messages.
    DeviceMap,
    /// `auth_key`: key for clients of management and network boot, 16 to 64 bytes.
    AuthKey,
    /// `auth_seed`: seed that makes the nonces differ between boots; written by the firmware itself.
    AuthSeed,
    /// `netboot_wait`: seconds that the loader waits for network boot before it starts the firmware on the card.
    NetbootWait,
    /// `boot`: write only: replaces the boot image of the card.
    Boot,
}

/// How values are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of `ip`.
    Address,
    /// Of `ip6`.
    Address6,
    /// Of `routing_table`, `auth_seed`.
    Bytes,
    /// Of `rtio_clock`.
    Clock,
    /// Of `device_map`.
    DeviceMap,
    /// Of `boot`.
    Image,
    /// Of `ipv4_default_route`.
    Ipv4,
    /// Of `ipv6_default_route`.
    Ipv6,
    /// Of `startup_kernel`, `idle_kernel`.
    Kernel,
    /// Of `log_level`, `uart_log_level`.
    Level,
    /// Of `mac`.
    Mac,
    /// Of `netboot_wait`.
    Number,
    /// Of `auth_key`.
    Secret,
}

/// Keys that take effect when they are written, removed or erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// `idle_kernel`
    IdleKernel,
    /// `log_level`
    LogLevel,
    /// `uart_log_level`
    UartLogLevel,
    /// `auth_key`
    AuthKey,
}

impl AtOnce {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::IdleKernel, Self::LogLevel, Self::UartLogLevel, Self::AuthKey];
}

impl Key {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 16] = [
        Self::Ip,
        Self::Mac,
        Self::Ipv4DefaultRoute,
        Self::Ip6,
        Self::Ipv6DefaultRoute,
        Self::StartupKernel,
        Self::IdleKernel,
        Self::RtioClock,
        Self::LogLevel,
        Self::UartLogLevel,
        Self::RoutingTable,
        Self::DeviceMap,
        Self::AuthKey,
        Self::AuthSeed,
        Self::NetbootWait,
        Self::Boot,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::Mac => "mac",
            Self::Ipv4DefaultRoute => "ipv4_default_route",
            Self::Ip6 => "ip6",
            Self::Ipv6DefaultRoute => "ipv6_default_route",
            Self::StartupKernel => "startup_kernel",
            Self::IdleKernel => "idle_kernel",
            Self::RtioClock => "rtio_clock",
            Self::LogLevel => "log_level",
            Self::UartLogLevel => "uart_log_level",
            Self::RoutingTable => "routing_table",
            Self::DeviceMap => "device_map",
            Self::AuthKey => "auth_key",
            Self::AuthSeed => "auth_seed",
            Self::NetbootWait => "netboot_wait",
            Self::Boot => "boot",
        }
    }

    /// How its values are understood.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Ip => Kind::Address,
            Self::Mac => Kind::Mac,
            Self::Ipv4DefaultRoute => Kind::Ipv4,
            Self::Ip6 => Kind::Address6,
            Self::Ipv6DefaultRoute => Kind::Ipv6,
            Self::StartupKernel | Self::IdleKernel => Kind::Kernel,
            Self::RtioClock => Kind::Clock,
            Self::LogLevel | Self::UartLogLevel => Kind::Level,
            Self::RoutingTable | Self::AuthSeed => Kind::Bytes,
            Self::DeviceMap => Kind::DeviceMap,
            Self::AuthKey => Kind::Secret,
            Self::NetbootWait => Kind::Number,
            Self::Boot => Kind::Image,
        }
    }

    /// Itself, if it takes effect when it is written.
    pub const fn at_once(self) -> Option<AtOnce> {
        match self {
            Self::IdleKernel => Some(AtOnce::IdleKernel),
            Self::LogLevel => Some(AtOnce::LogLevel),
            Self::UartLogLevel => Some(AtOnce::UartLogLevel),
            Self::AuthKey => Some(AtOnce::AuthKey),
            _ => None,
        }
    }

    /// Whether a value that makes no sense is refused when it is written.
    pub const fn is_checked(self) -> bool {
        matches!(self, Self::LogLevel | Self::UartLogLevel | Self::AuthKey)
    }

    /// Whether it is never sent to anybody.
    pub const fn is_secret(self) -> bool {
        matches!(self, Self::AuthKey)
    }

    /// The key of this name, in any case of letters: the file system of the card knows no other ones.
    pub fn find(name: &str) -> Option<Self> {
        let is_it = |key: &Self| key.name().eq_ignore_ascii_case(name);
        Self::ALL.iter().copied().find(is_it)
    }
}

/// What counts without the key `ip`.
pub const IP_DEFAULT: ([u8; 4], u8) = ([10, 0, 2, 15], 24);

/// What counts without the key `mac`.
pub const MAC_DEFAULT: [u8; 6] = [0x02, 0x4b, 0x41, 0x49, 0x52, 0x01];

/// What counts without the key `ipv4_default_route`.
pub const IPV4_DEFAULT_ROUTE_DEFAULT: [u8; 4] = [10, 0, 2, 2];

/// Shortest value of `auth_key` in bytes.
pub const AUTH_KEY_MIN: usize = 16;

/// Longest value of `auth_key` in bytes.
pub const AUTH_KEY_MAX: usize = 64;
