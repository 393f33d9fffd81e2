"""The hub.

Generated from src/contracts/hub.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["PORT"]

PORT = 1390
"""TCP port on which a hub listens unless hub.toml sets another."""
