"""Packets through boards that have several links."""
