"""Monitor/injector: probes of the PHYs that can be read at any time, and overrides that take pins from the experiment."""
