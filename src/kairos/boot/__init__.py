"""Booting a core device: boot images for its card or flash, and loading it over the network."""

from .files import firmware, gateware
from .image import CHIPS, boards, boot_image, check_chip
from .netboot import PORT, load

__all__ = ["CHIPS", "PORT", "boards", "boot_image", "check_chip", "firmware", "gateware", "load"]
