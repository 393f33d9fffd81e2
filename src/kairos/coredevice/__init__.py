"""Drivers of the core device and of what is connected to it."""
