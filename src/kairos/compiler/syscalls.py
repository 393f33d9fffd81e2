"""Checks declarations of system calls against the firmware: mismatching arguments would be read from wrong
registers."""

from kairos.compiler.annotations import QuotingError
from kairos.contracts.kernel_symbols import SIGNATURES

__all__ = ["check_syscall"]

_WORDS = {"none": "none", "bool": "bool", "int32": "i32", "int64": "i64", "float": "f64", "str": "str", "list": "list"}
"""Words of the contract for kinds of annotations."""

_NAMES = {"none": "TNone", "bool": "TBool", "i32": "TInt32", "i64": "TInt64", "f64": "TFloat", "str": "TStr"}
_NAMES |= {"list": "TList", "u32": "TInt32"}
"""Annotations for words of the contract."""


def _word(annotation: tuple) -> str:
    """Return the contract's word for an annotation; the annotation's own kind if there is none."""
    if annotation[0] == "tuple":
        return f"({', '.join(map(_word, annotation[1:]))})"
    return _WORDS.get(annotation[0], annotation[0])


def _name(word: str) -> str:
    if word.startswith("("):
        return f"TTuple([{', '.join(map(_name, word[1:-1].split(', ')))}])"
    return _NAMES.get(word, word)


def check_syscall(symbol: str, params: list[tuple], returns: tuple | None) -> None:
    """Compare a declaration with the firmware's function `symbol`, if there is one that kernels can
    call.

    `params`: name, annotation or None, default; `returns`: the annotation or None. Missing
    annotations are reported elsewhere. Raises QuotingError.
    """
    wanted, result = SIGNATURES.get(symbol, (("...",), "none"))
    words = [*wanted, result]
    if any(word.strip("()").split(", ")[0] not in _NAMES for word in words):
        return  # not callable from handwritten kernels
    if returns is not None and _word(returns) != result.replace("u32", "i32"):
        raise QuotingError(f"the system call {symbol} returns {_name(_word(returns))}, the firmware's {_name(result)}")
    if len(params) != len(wanted):
        raise QuotingError(f"the system call {symbol} takes {len(params)} arguments, the firmware's {len(wanted)}")
    for (name, annotation, _), word in zip(params, wanted, strict=True):
        if annotation is not None and _word(annotation) != word.replace("u32", "i32"):
            raise QuotingError(
                f"argument '{name}' of the system call {symbol} is {_name(_word(annotation))}, "
                f"the firmware's {_name(word)}"
            )
