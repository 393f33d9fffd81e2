"""Registers of chips, generated from the tables in src/contracts/chips; see `kairos.coredevice.registers`."""
