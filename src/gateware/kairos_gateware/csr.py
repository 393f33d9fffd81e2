"""What the blocks' registers are for, as src/contracts/registers.toml says, where their widths
stand as well. `python -m kairos_gateware.docs` puts it into docs/gateware/.
"""

from .contracts.registers import BLOCKS

__all__ = ["uses"]


def uses(block: str) -> dict[str, str]:
    """What the registers of a block are for, by name."""
    return {name: doc for name, (_, _, doc) in BLOCKS[block].items()}
