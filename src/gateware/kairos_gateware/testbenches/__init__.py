"""Surroundings for blocks in simulation: Migen's simulator compiled to Python, verilated blocks fed
with streams, models of lines, memories and cards. Used by tests and figures; not part of the wheel.
"""
