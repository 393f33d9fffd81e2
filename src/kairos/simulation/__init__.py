"""Runs kernels as Python on a host timeline, recording the calls of an experiment to its devices and their times.

A simulation shows the order of things and nothing of a device's limits: no slack, no underflow, no
machine units smaller than one. Experiments that are to meet those run on the emulated device.
"""
