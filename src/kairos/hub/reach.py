"""Reason why a hub is unreachable, which gRPC itself does not report in detail."""

import socket
import ssl

__all__ = ["why"]

TIMEOUT = 2.0
"""Timeout in seconds of each attempt."""
EXPIRED = 10
"""X509_V_ERR_CERT_HAS_EXPIRED of OpenSSL."""


def why(address: str, certificate, system: bool, details: str) -> str:
    """Try to connect to the hub at `address`, host:port or unix:PATH, and return the reason for the
    failure: one line.

    `certificate`: file of the trusted certificates, if any; `system`: the system's are trusted.
    `details`: gRPC's text, used if the connection succeeds now.
    """
    if address.startswith("unix:"):
        return f"no hub answers at {address}: {details}"
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        socket.create_connection((host, port), TIMEOUT).close()
    except socket.gaierror:
        return f"no hub answers at {address}: there is no host '{host}'"
    except ConnectionRefusedError:
        return f"no hub answers at {address}, where nothing listens: is 'kairos hub' running there?"
    except (OSError, OverflowError) as error:
        return f"no hub answers at {address}: {error}"
    if certificate is None and not system:
        if _shakes_hands(host, port, None, verify=False) is None:
            return f"the hub at {address} has TLS: give its certificate (--certificate FILE, certificate=…)"
        return f"no hub answers at {address}: {details}"
    failed = _shakes_hands(host, port, certificate, verify=True)
    match failed:
        case None:
            return f"no hub answers at {address}: {details}"
        case ssl.SSLCertVerificationError(verify_code=code) if code == EXPIRED:
            return f"the certificate of the hub at {address} has expired: its laboratory has to make a new one"
        case ssl.SSLCertVerificationError(verify_message=text):
            return f"what listens at {address} shows another certificate, or one for another name: {text}"
        case _:
            return f"the service at {address} does not use TLS: omit the certificate, or check the port"


def _shakes_hands(host: str, port: str, certificate, verify: bool) -> Exception | None:
    """Return the failure of a TLS handshake, if any."""
    context = ssl.create_default_context(cafile=certificate)
    context.set_alpn_protocols(["h2"])
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), TIMEOUT) as connection,
            context.wrap_socket(connection, server_hostname=host),
        ):
            return None
    except (OSError, ValueError) as error:
        return error
