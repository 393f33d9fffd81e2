"""Monitor/injector: probes of the PHYs, readable at any time, and overrides that take pins from the experiment."""
