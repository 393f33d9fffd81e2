"""Monitor/injector: probes of the PHYs, readable at any time, and overrides of the pins' levels."""
