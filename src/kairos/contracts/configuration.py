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
    "ip": "`a.b.c.d`, `a.b.c.d/prefix` (without: everything is on the link) or `use_dhcp`",
    "mac": "Ethernet address, `xx:xx:xx:xx:xx:xx`; the default is locally administered: `02`, then KAIR, 1",
    "ipv4_default_route": "`a.b.c.d`; ignored with DHCP",
    "ip6": "further IPv6 address, `address/prefix` (without: 64); the link-local one is always there",
    "ipv6_default_route": "IPv6 address",
    "startup_kernel": "kernel library that runs once at boot",
    "idle_kernel": "kernel library that runs whenever no client is there",
    "rtio_clock": "where the RTIO clock comes from",
    "log_level": "what is kept in the log: TRACE, DEBUG, INFO, WARN, ERROR or OFF",
    "uart_log_level": "what goes to the serial console, likewise",
    "routing_table": "ARTIQ's routing table, below: the gateware numbers the boards, and the log says whether the table agrees",
    "device_map": "names of RTIO channels in messages",
    "auth_key": "key that clients of management and network boot must have, 16 to 64 bytes",
    "auth_seed": "what makes the nonces of one boot differ from those of the others; the firmware writes it itself",
    "netboot_wait": "seconds for which the loader waits for the network before it starts what is on the card",
    "boot": "write only: replaces the boot image of the card",
}
"""What each key of the configuration is for."""
