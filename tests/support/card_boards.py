"""A Kasli-SoC with a Shuttler and a Songbird at its connectors, in the emulator: from descriptions to a system."""

from kairos_gateware.description import check, make_variant

from .gateware import built_as

__all__ = ["card_boards"]

_CARDS = {"shuttler": 8, "songbird": 9}
"""Types, and the EEM connectors at which they are."""
_DRTIO = "_drtio"
"""In the names of variants."""


def _described(**fields):
    return make_variant(check({"hw_rev": "v1.1", "peripherals": []} | fields))


def _system(master, cards):
    """The emulator's description of these boards."""
    # A card with its maker's gateware has no firmware here
    firmware = {"master": "runtime.elf"} | {card: "satman.elf" for card, name in cards.items() if _DRTIO not in name}
    text = "".join(
        f'[[board]]\nname = "{name}"\nvariant = "{variant}"\n'
        + (f'firmware = "{firmware[name]}"\n\n' if name in firmware else "\n")
        for name, variant in {"master": master.name, **cards}.items()
    )
    return text + "".join(f'[[link]]\nfrom = "master"\nto = "{card}"\ndelay_ns = 20\n\n' for card in cards)


def card_boards(folder, drtio=()):
    """Build the gateware of the boards, which takes a minute; returns the master's variant, and a file that describes
    the system, in `folder`. drtio: the cards that speak DRTIO, as with their maker's gateware."""
    of = {card: "maker" if card in drtio else "kairos" for card in _CARDS}
    peripherals = [{"type": card, "ports": [port], "gateware": of[card]} for card, port in _CARDS.items()]
    dio = {"type": "dio", "ports": [0], "bank_direction_low": "input", "bank_direction_high": "output"}
    name = f"card_master{_DRTIO if drtio else ''}"
    master = _described(target="kasli_soc", base="master", variant=name, peripherals=[dio, *peripherals])
    names = {card: f"card_{card}{_DRTIO if card in drtio else ''}" for card in _CARDS}
    for card, name in names.items():
        built_as(_described(target="efc", base=card, variant=name, gateware=of[card]))
    built_as(master)
    path = folder / "system.toml"
    path.write_text(_system(master, names))
    return master, path
