"""Bridges of system descriptions: which pages of a processing system may be shown, and the `Bridge`."""

from ..contracts.remote import PAGE_BYTES
from ..variant import Bridge

__all__ = ["make_bridge", "why_not_shown"]

_REACHED = [range(0xE000_0000, 0xE030_0000), range(0xF800_0000, 0xF881_0000), range(0xFFFC_0000, 0x1_0000_0000)]
"""Peripherals, system registers, and on-chip memory: what a port of the logic reaches beside DDR (UG585, table 4-1)."""


def _address(page: dict) -> int:
    return int(page["address"], 16)


def why_not_shown(bridge: dict) -> str | None:
    """Why the block cannot show the pages that a checked description lists, with the place in the bridge's; None if it
    can."""
    if bridge["pages"] and bridge["block"] != "peripherals":
        return "pages: only the block 'peripherals' has a list of pages; kernels show those of the block 'pages'"
    for i, page in enumerate(bridge["pages"]):
        if _address(page) % PAGE_BYTES:
            return f"pages[{i}]: pages begin at multiples of 0x{PAGE_BYTES:x}, unlike {page['address']}"
        if not any(_address(page) in there for there in _REACHED):
            return (
                f"pages[{i}]: the logic reaches no page at {page['address']}: peripherals are from 0xe0000000 and "
                "0xf8000000 on, on-chip memory from 0xfffc0000 on; memory is shown by the block 'pages'"
            )
    return None


def make_bridge(description: dict | None) -> Bridge | None:
    """The `Bridge` of a checked description, None without."""
    if description is None:
        return None
    pages = tuple((_address(page), page["write"]) for page in description["pages"])
    return Bridge(**description | {"pages": pages})
