"""Dry runs: kernels are executed as Python functions on the host, on a timeline that records the calls of an
experiment to its devices and their times. No device, emulated or real, is involved.

A dry run shows the order of operations and none of a device's limits: no slack, no underflow, no
time below one machine unit. Experiments that should encounter those run on the emulated device.
"""
