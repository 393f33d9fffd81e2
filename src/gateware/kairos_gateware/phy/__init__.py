"""PHYs: what turns events into pad levels and edges into events. A PHY offers a `channel` and uses `Pad`s."""
