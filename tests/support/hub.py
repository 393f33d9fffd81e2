"""A hub for tests: the program, with devices given by their addresses."""

import hashlib
import importlib.util
import signal
import subprocess
from contextlib import contextmanager

import pytest

import kairos.hub
from kairos.hub import HubError
from kairos.network.management import Management

from . import TIMEOUT
from .command import first_line
from .paths import BUILD, ROOT
from .waiting import until

HUB = BUILD / "hub" / "kairos-hub"
HUB_WITH_TRACES = BUILD / "hub" / "kairos-hub-traces"


def _protocol():
    spec = importlib.util.spec_from_file_location("protocol", ROOT / "src" / "hub" / "protocol.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROTOCOL = _protocol()
"""`src/hub/protocol.py`, which checks and records the protocol."""


class Hub:
    """A hub with these devices by name, each an address or a device under test, other entries of
    hub.toml, options, and a separate environment; `address`: where it listens. With the option
    `--traces` it is the program that is built with them."""

    def __init__(self, folder, devices, listen="127.0.0.1:0", entries="", options=(), environment=None):
        self.folder = folder
        settings = folder / "hub.toml"
        settings.write_text("".join([entries, *(device_entry(*each) for each in devices.items())]))
        with (folder / "hub.log").open("w") as log:
            program = HUB_WITH_TRACES if "--traces" in options else HUB
            command = [program, settings, "--listen", listen, *options]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        line = first_line(self.process)
        assert line.startswith("listening on "), (folder / "hub.log").read_text()
        self.address = line.split()[-1]

    def close(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(TIMEOUT)
        assert code == 0, f"ended with {code}: {(self.folder / 'hub.log').read_text()[-2000:]}"
        self.process.stdout.close()


def device_entry(name, device):
    """Return an entry of hub.toml: a device under test, or an address."""
    if isinstance(device, str):
        return f"[[device]]\nname = '{name}'\naddress = '{device}'\n"
    analyzer = f"analyzer = '{device.host}:{device.ports[1382]}'\n"
    return device_entry(name, f"{device.host}:{device.ports[1380]}") + analyzer


def token_entry(token, role):
    """Return an entry of hub.toml that accepts this token."""
    digest = hashlib.sha256(token.encode()).hexdigest()
    return f"[[token]]\nname = 'one who may {role}'\nrole = '{role}'\nsha256 = '{digest}'\n"


def board_entry(**blocks):
    """Return an entry of hub.toml: the computer `rack`, whose blocks of memory are files in the
    hub's directory. By the name of each block: its file, and its other keys in TOML."""
    entry = '[[board]]\nname = "rack"\nroot = "."\n'
    memory = '[[board.memory]]\nblock = "{}"\nfile = "/{}"\n{}\n'
    return entry + "".join(memory.format(name, *block) for name, block in blocks.items())


def certificate(folder):
    """Create `hub.crt` and `hub.key` for localhost in a directory, as in docs/hub-security.md;
    returns their entry of hub.toml."""
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    # Otherwise it would be an authority, and Rust's TLS does not accept those as server
    # certificates.
    name += ["-addext", "basicConstraints=critical,CA:FALSE"]
    files = ["-keyout", "hub.key", "-out", "hub.crt"]
    subprocess.run([*make, *name, *files], cwd=folder, check=True, capture_output=True)
    return "[tls]\ncertificate_file = 'hub.crt'\nkey_file = 'hub.key'\n"


EXPIRED = """
[ca]
default_ca = laboratory
[laboratory]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
x509_extensions = server
[any]
commonName = supplied
[server]
subjectAltName = DNS:localhost
basicConstraints = critical,CA:FALSE
"""


def expired_certificate(folder):
    """As `certificate`, with one that was valid for a day in 2020."""
    (folder / "ca.cnf").write_text(EXPIRED)
    (folder / "index.txt").touch()
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "hub.key"]
    signed = ["-selfsign", "-keyfile", "hub.key", "-in", "hub.csr", "-out", "hub.crt", "-notext"]
    days = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"]
    for command in (
        ["openssl", "req", "-new", *key, "-subj", "/CN=localhost", "-out", "hub.csr"],
        ["openssl", "ca", "-config", "ca.cnf", "-batch", "-create_serial", *signed, *days],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return "[tls]\ncertificate_file = 'hub.crt'\nkey_file = 'hub.key'\n"


def fails(code, text, work):
    """Assert that a call of the hub fails with this code and text."""
    with pytest.raises(HubError) as failed:
        work()
    assert failed.value.code == code and text in str(failed.value), failed.value


def known(lab, name):
    """Wait until the hub has found the device."""
    until(lambda: next(device.connected for device in lab.devices() if device.name == name))


@contextmanager
def demo_hub(device, folder, options=()):
    """A hub with a device, and one that does not answer."""
    hub = Hub(folder, {"demo": device, "away": "127.0.0.1:9"}, options=options)
    yield hub
    hub.close()


@contextmanager
def demo_lab(hub):
    """A client of a hub that has found the device."""
    with kairos.hub.connect(hub.address) as lab:
        known(lab, "demo")
        yield lab


def device_client(device):
    """Return a client of the device itself."""
    return Management(device.host, device.ports[1380])
