"""Emulated devices as hosts of a device database: ``emulator://VARIANT``."""

from ..errors import EmulatorError

__all__ = ["is_emulated", "variant_of"]

_SCHEME = "emulator://"


def is_emulated(host) -> bool:
    """Return whether `host` of a device database is an emulated device: ``emulator://VARIANT``."""
    return isinstance(host, str) and host.startswith(_SCHEME)


def variant_of(url: str) -> str:
    """Return the target of ``emulator://VARIANT``: a gateware variant, or a system description (a
    file ``.toml``)."""
    variant = url.removeprefix(_SCHEME)
    if variant.endswith(".toml"):
        return variant
    variant = variant.strip("/")
    if not variant or "/" in variant:
        raise EmulatorError(f"'{url}' is not an emulated device: use emulator://VARIANT, such as emulator://demo")
    return variant
