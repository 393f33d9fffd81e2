"""Booting a core device: boot images for its card or flash, and loading it over the network."""

from .files import firmware, gateware
from .image import boards, boot_image
from .netboot import PORT, load

__all__ = ["PORT", "boards", "boot_image", "firmware", "gateware", "load"]
