"""Kernels run as Python, on a timeline of the host: what an experiment asks of its devices, and when.

A simulation shows the order of things and nothing of a device's limits: no slack, no underflow, no
machine units smaller than one. Experiments that are to meet those run on the emulated device.
"""
