"""Facts that the device and other parts of Kairos rely on too.

Generated from src/contracts/*.toml by src/contracts/generate.py: do not edit.
"""
