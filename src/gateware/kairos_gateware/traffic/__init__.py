"""Reads and writes memory on demand and counts its own cycles: for measuring the ports of the
processing system."""
