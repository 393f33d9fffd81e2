"""Posts data to a server by HTTP, for webhooks and InfluxDB: what it does not take is an error, and none is lost by a
redirection, which would become a request without the data."""

import ssl
import urllib.error
import urllib.request
from pathlib import Path

from ..errors import UsageError
from ..files import reason

__all__ = ["Rejected", "encryption", "post", "secret"]

REJECTED = (400, 413, 422)
"""Statuses of a server that is there, but does not take these data."""
SAID = 300
"""Bytes of a server's answer that are shown."""


class Rejected(OSError):
    """The server does not take these data, and would not take them later either."""


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """Follows no redirection."""

    def redirect_request(self, *_):
        return None


def encryption(folder: Path, certificate: str) -> ssl.SSLContext:
    """Return how a server is verified: with the file `certificate`, relative to `folder`, or by what the system trusts
    if there is none. UsageError for an unusable file."""
    context = ssl.create_default_context()
    if certificate:
        try:
            context.load_verify_locations(folder / certificate)
        except ssl.SSLError:
            raise UsageError(f"{folder / certificate} has no certificate in PEM format") from None
        except OSError as error:
            raise UsageError(f"{folder / certificate} cannot be read: {reason(error)}") from None
    return context


def secret(folder: Path, name: str) -> str:
    """Return what a file with a password or token has, empty without a name; UsageError if it cannot be read."""
    if not name:
        return ""
    try:
        return (folder / name).read_text().strip()
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder / name} cannot be read: {reason(error)}") from None


def post(url: str, data: bytes, headers: dict, context: ssl.SSLContext, timeout: float):
    """Post data; OSError or another exception if the server has not taken them, `Rejected` if it never will."""
    request = urllib.request.Request(url, data, {"User-Agent": "kairos", **headers})
    opener = urllib.request.build_opener(_NoRedirection, urllib.request.HTTPSHandler(context=context))
    try:
        # Its body is of no interest, and might never end.
        opener.open(request, timeout=timeout).close()
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error) from None


def _refusal(error: urllib.error.HTTPError) -> OSError:
    if 300 <= error.code < 400:
        return OSError(f"it redirects to {error.headers.get('Location')}: give that address in lab.toml")
    said = error.fp.read1(SAID).decode(errors="replace").strip().partition("\n")[0]
    why = f"{error.code} {error.reason}{': ' if said else ''}{said}"
    return Rejected(why) if error.code in REJECTED else OSError(why)
