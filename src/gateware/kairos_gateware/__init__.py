"""RTIO gateware of Kairos: RTIO core, PHYs, kernel initiator, system on chip, boards and the
simulation build."""

__version__ = "0.1.0"
