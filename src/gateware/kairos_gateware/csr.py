"""The uses of the blocks' registers, from src/contracts/registers.toml, which also defines their
widths. `python -m kairos_gateware.docs` copies them into docs/gateware/."""

from .contracts.registers import BLOCKS

__all__ = ["uses"]


def uses(block: str) -> dict[str, str]:
    """The uses of a block's registers, by name."""
    return {name: doc for name, (_, _, doc) in BLOCKS[block].items()}
