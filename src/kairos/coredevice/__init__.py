"""Drivers of the core device and of the hardware connected to it."""
