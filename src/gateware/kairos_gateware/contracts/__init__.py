"""Facts that the firmware relies on too.

Generated from src/contracts/*.toml by src/contracts/generate.py: do not edit.
"""
