"""Measured figures of the gateware: area and logic depth (yosys), cycles (simulation), speed of the
model.

`python -m kairos_gateware.figures` prints them as JSON, with the reference's numbers beside them.
"""
