"""Type annotations of kernels and remote calls.

Annotations are small values that the compiler reads; they have no effect on the host.
`TList(TInt32)` is a list of 32-bit integers, `TTuple([TInt32, TFloat])` a pair, `TArray(TFloat, 2)`
a matrix, and `TVar()` a type determined by inference.
"""

__all__ = [
    "TNone",
    "TBool",
    "TInt32",
    "TInt64",
    "TFloat",
    "TStr",
    "TBytes",
    "TByteArray",
    "TList",
    "TArray",
    "TTuple",
    "TRange32",
    "TRange64",
    "TVar",
]


class KernelType:
    """A type of the kernel language: its kind and its component types."""

    def __init__(self, kind: str, args: tuple["KernelType", ...] = (), num_dims: int = 0) -> None:
        self.kind, self.args, self.num_dims = kind, args, num_dims

    def __repr__(self) -> str:
        return f"KernelType(kind={self.kind!r}, args={self.args!r}, num_dims={self.num_dims!r})"

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, KernelType) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.kind, self.args, self.num_dims))

    def __call__(self) -> "KernelType":
        """Return the type itself: `TInt32()` means the same as `TInt32`."""
        return self


TNone = KernelType("none")
TBool = KernelType("bool")
TInt32 = KernelType("int32")
TInt64 = KernelType("int64")
TFloat = KernelType("float")
TStr = KernelType("str")
TBytes = KernelType("bytes")
TByteArray = KernelType("bytearray")
TRange32 = KernelType("range", (TInt32,))
TRange64 = KernelType("range", (TInt64,))


def TVar() -> KernelType:
    """A type left to inference."""
    return KernelType("var")


def TList(elt: KernelType | None = None) -> KernelType:
    """A list with elements of type `elt`, which is inferred if not given."""
    return KernelType("list", (elt or TVar(),))


def TArray(elt: KernelType | None = None, num_dims: int = 1) -> KernelType:
    """An array of `num_dims` dimensions with elements of type `elt`."""
    return KernelType("array", (elt or TVar(),), num_dims)


def TTuple(elts: list[KernelType] | tuple[KernelType, ...] = ()) -> KernelType:
    """A tuple with elements of the given types, in order."""
    return KernelType("tuple", tuple(elts))
