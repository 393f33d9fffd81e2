"""RTIO over the link: events to satellites, and the transfer of time to them."""
