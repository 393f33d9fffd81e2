# ruff: noqa: E501
"""Keys of the configuration.

Generated from src/contracts/configuration.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["AUTH_KEY_MIN", "AUTH_KEY_MAX", "KEYS"]

AUTH_KEY_MIN = 16
"""Shortest value of auth_key in bytes."""

AUTH_KEY_MAX = 64
"""Longest value of auth_key in bytes."""

KEYS = {
    "ip": "`a.b.c.d`, `a.b.c.d/prefix` (without prefix, all addresses are considered on-link) or `use_dhcp`",
    "mac": "Ethernet address, `xx:xx:xx:xx:xx:xx`; the default is locally administered: `02`, then KAIR, 1",
    "ipv4_default_route": "`a.b.c.d`; ignored with DHCP",
    "ip6": "additional IPv6 address, `address/prefix` (default prefix: 64); the link-local address always exists",
    "ipv6_default_route": "IPv6 address",
    "startup_kernel": "kernel library that runs once at boot",
    "idle_kernel": "kernel library that runs while no client is connected",
    "rtio_clock": "source of the RTIO clock",
    "log_level": "level of the log: TRACE, DEBUG, INFO, WARN, ERROR or OFF",
    "uart_log_level": "level of the log on the serial console",
    "routing_table": "ARTIQ's routing table, see below: the boards are numbered by the gateware, and the log reports whether the table agrees",
    "device_map": "names of RTIO channels used in messages",
    "auth_key": "key for clients of management and network boot, 16 to 64 bytes",
    "auth_seed": "seed that makes the nonces differ between boots; written by the firmware itself",
    "netboot_wait": "seconds that the loader waits for network boot before it starts the firmware on the card",
    "boot": "write only: replaces the boot image of the card",
}
"""What each key of the configuration is for."""
