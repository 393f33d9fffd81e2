"""Python modules of chips: a class for each register, with its fields and the function that makes a word of them."""

from pathlib import Path
from textwrap import fill

from . import chips
from .facts import Subject

__all__ = ["files"]

FOLDER = "src/kairos/coredevice/chips"
LINE = 120
WORD = 32


def files(_subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of each module by its path."""
    known = chips.load(root / "src" / "contracts" / "chips")
    return {f"{FOLDER}/{chip.file}.py": _module(chip) for chip in known if "python" in chip.languages}


def _doc(text: str) -> str:
    """A docstring at the margin, of as many lines as it needs."""
    return fill(f'"""{text}"""', LINE)


def _module(chip: chips.Chip) -> str:
    names = [f"checked_{each.name}" for each in chip.indices]
    names += [*chip.constants, *(table.name for table in chip.tables), *(each.name for each in chip.registers)]
    kinds = {"Register", *("WideField" if each.is_wide else "Field" for each in chip.registers)}
    makes = [each for each in chip.registers if _has_word(each)]
    types = {"TInt32"} if makes or chip.indices else set()
    types |= {"TTuple"} if any(each.width > WORD for each in makes) else set()
    language = [*sorted(types), *(["portable"] if makes or chip.indices else [])]
    lines = [
        f'"""{chip.doc}',
        "",
        f"Source: {chip.source}.",
        "",
        f"Generated from src/contracts/chips/{chip.file}.toml by `make contracts`: do not edit.",
        '"""',
        "",
        *([f"from ...language import {', '.join(language)}"] if language else []),
        *([f"from ..registers import {', '.join(sorted(kinds))}"] if chip.registers else []),
        *([""] if language or chip.registers else []),
        "__all__ = [",
        *(f'    "{name}",' for name in sorted(names)),
        "]",
    ]
    for name, constant in chip.constants.items():
        lines += ["", f"{name} = {_number(constant.value)}", f'"""{constant.doc}"""']
    for table in chip.tables:
        rows = [f"    ({', '.join(map(_number, row))})," for row in table.rows]
        lines += ["", f"{table.name} = (", *rows, ")", _doc(f"{table.doc} A row: {', '.join(table.columns)}.")]
    for register in chip.registers:
        lines += ["", "", *_register(chip, register)]
    for each in chip.indices:
        lines += ["", "", *_index(each)]
    return "\n".join(lines) + "\n"


def _index(each: chips.Index) -> list[str]:
    """The function that refuses a number beyond those of a card."""
    article = "an" if each.of[0] in "AEIOU" or each.of.startswith("SU-") else "a"
    numbers = "0 and 1" if each.count == 2 else f"0 to {each.count - 1}"
    return [
        "@portable",
        f"def checked_{each.name}(index) -> TInt32:",
        f'    """Return `index` if it is one of the {each.many}. ValueError for another number."""',
        f"    if index < 0 or index >= {each.count}:",
        f'        raise ValueError("the {each.many} of {article} {each.of} are {numbers}")',
        "    return index",
    ]


def _has_word(register: chips.Register) -> bool:
    """Whether its word can be made from its fields, each given once."""
    return not any(each.count > 1 or each.overlaps for each in register.fields)


def _register(chip: chips.Chip, register: chips.Register) -> list[str]:
    lines = [
        f"class {register.name}(Register):",
        f'    """{register.doc}."""',
        "",
        f'    chip = "{chip.name}"',
        f"    width = {register.width}",
    ]
    if register.address is not None:
        lines.append(f"    address = 0x{register.address:02X}")
    if register.count > 1:
        lines.append(f"    count = {register.count}")
    if register.reset is not None:
        lines.append(f"    reset = 0x{register.reset:0{(register.width + 3) // 4}X}")
    lines.append("")
    lines += [line for each in register.fields for line in _field(register, each)]
    if _has_word(register):
        lines += [*([""] if register.fields else []), *_word(register)]
    return lines


def _field(register: chips.Register, each: chips.Field) -> list[str]:
    kind = "WideField" if register.is_wide else "Field"
    options = [str(each.low), str(each.width)]
    reset = (register.reset or 0) >> each.low & (2**each.width - 1)
    options += [f"reset={_number(reset)}"] if reset and each.count == 1 else []
    options += [f"count={each.count}"] if each.count > 1 else []
    options += [f"range={each.range}"] if each.range else []
    if each.values:
        options.append("values={" + ", ".join(f'"{name}": {value}' for name, value in each.values.items()) + "}")
    options += [f'unit="{each.unit}", steps={_number(each.steps)}'] if each.unit else []
    options += ["signed=True"] if each.signed else []
    options.append(f'doc="{each.doc}"')
    line = f"    {each.name} = {kind}({', '.join(options)})"
    if len(line) <= LINE:
        return [line]
    inner = f"        {', '.join(options)}"
    if len(inner) <= LINE and not each.values:
        return [f"    {each.name} = {kind}(", inner, "    )"]
    parts = [part for option in options for part in (option.split(", ") if option.startswith("unit") else [option])]
    return [f"    {each.name} = {kind}(", *(f"        {option}," for option in parts), "    )"]


def _word(register: chips.Register) -> list[str]:
    """The function `word` (`words` above 32 bits): fields to numbers that a bus takes, the highest bits first."""
    wide = register.width > WORD
    parameters = [f"{each.name}={_number(_reset(register, each))}" for each in register.fields]
    returns = "TTuple([TInt32, TInt32])" if wide else "TInt32"
    name = "words" if wide else "word"
    lines = ["    @staticmethod", '    @portable(flags={"forceinline"})']
    lines += _fitted(f"    def {name}(", parameters, f") -> {returns}:")
    what = "Its two words, the higher one first," if wide else "Its word"
    kept = " Other bits are as after a reset." if register.kept else ""
    lines.append(f'        """{what} made from numbers for the fields, cut to their bits.{kept}"""')
    if not wide:
        return lines + _joined("return ", _terms(register, 0), "")
    lines += _joined("high = ", _terms(register, WORD), "")
    lines += _joined("low = ", _terms(register, 0), "")
    return [*lines, "        return high, low"]


def _reset(register: chips.Register, each: chips.Field) -> int:
    return (register.reset or 0) >> each.low & (2**each.width - 1)


def _fitted(head: str, parts: list[str], tail: str) -> list[str]:
    """A list of things in brackets, on one line if it fits there, else one to a line."""
    line = head + ", ".join(parts) + tail
    return [line] if len(line) <= LINE else [head, *(f"        {part}," for part in parts), f"    {tail}"]


def _joined(head: str, terms: list[str], tail: str) -> list[str]:
    line = f"        {head}{' | '.join(terms)}{tail}"
    if len(line) <= LINE:
        return [line]
    line = f"            {' | '.join(terms)}"
    if len(line) <= LINE:
        return [f"        {head}(", line, f"        ){tail}"]
    first, *rest = terms
    return [f"        {head}(", f"            {first}", *(f"            | {term}" for term in rest), f"        ){tail}"]


def _terms(register: chips.Register, base: int) -> list[str]:
    """What to join for the 32 bits from `base` on."""
    terms = []
    if kept := register.kept >> base & (2**WORD - 1):
        terms.append(_number(kept - 2**WORD if kept >> (WORD - 1) else kept))
    for each in register.fields:
        low, high = max(each.low, base), min(each.high, base + WORD - 1)
        if low > high:
            continue
        bits = high - low + 1
        value = each.name if low == each.low else f"({each.name} >> {low - each.low})"
        cut = value if bits == WORD else f"({value} & {_mask(bits)})"
        terms.append(cut if low == base else f"({cut} << {low - base})")
    if len(terms) == 1:
        terms[0] = terms[0].removeprefix("(").removesuffix(")")
    return terms or ["0"]


def _mask(bits: int) -> str:
    return f"0x{2**bits - 1:X}"


def _number(value: float) -> str:
    if isinstance(value, float):
        return repr(value)
    return f"0x{value:X}" if value > 255 else str(value)
