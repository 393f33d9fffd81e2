"""PHYs: convert events to pad levels and edges to events.

A PHY provides a `channel` and uses `Pad`s.
"""
