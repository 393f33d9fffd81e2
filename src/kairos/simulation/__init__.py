"""Simulation of kernels as Python functions, on a timeline of the host: what is requested of
devices, and when.

A simulation shows the order of operations and none of a device's limits: no slack, no underflow, no
time below one machine unit. Experiments that should encounter those run on the emulated device.
"""
