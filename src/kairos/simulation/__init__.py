"""Runs kernels as Python on a host timeline, recording the calls of an experiment to its devices and their times.

A simulation shows the order of operations and none of a device's limits: no slack, no underflow, no
time below one machine unit. Experiments that should encounter those run on the emulated device.
"""
