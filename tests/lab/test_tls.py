"""TLS on ARTIQ's ports: with certificates of the laboratory and of its clients, as sipyco's clients use them."""

import shutil
import socket
import ssl
import subprocess
import sys

import pytest

from kairos.controllers import Client, ControllerError
from tests.support.command import bounded, one_line, run_kairos
from tests.support.hub import certificate
from tests.support.laboratory import Laboratory

TLS = '[tls]\ncertificate = "lab.crt"\nkey = "lab.key"\nclients = "client.crt"\n'


@pytest.fixture
def certified(tmp_path):
    """A laboratory with certificates, in its folder also that of a client."""
    folder = tmp_path / "lab"
    folder.mkdir()
    for name in ("lab", "client", "stranger"):
        certificate(tmp_path)
        for ending in ("crt", "key"):
            shutil.move(tmp_path / f"hub.{ending}", folder / f"{name}.{ending}")
    lab = Laboratory(folder, TLS)
    lab.start()
    yield lab
    lab.close()


def files(lab, client):
    folder = lab.folder
    return {
        "client_cert": str(folder / f"{client}.crt"),
        "client_key": str(folder / f"{client}.key"),
        "server_cert": str(folder / "lab.crt"),
    }


def test_ports_with_tls_serve_clients_with_a_certificate_only(certified):
    port = certified.ports["control"]
    schedule = Client("localhost", port, "schedule", ssl_config=files(certified, "client"))
    assert schedule.get_status() == {}
    schedule.close_rpc()
    with pytest.raises((OSError, ControllerError)):
        Client("localhost", port, "schedule", timeout=10, ssl_config=files(certified, "stranger")).get_status()
    for name in ("notify", "control", "broadcast", "logging"):
        with socket.create_connection(("127.0.0.1", certified.ports[name]), 10) as plain:
            plain.sendall(b"ARTIQ pc_rpc\nschedule\n")
            assert not plain.recv(1000).startswith(b"{"), name
        context = ssl.create_default_context(cafile=certified.folder / "lab.crt")
        context.load_cert_chain(certified.folder / "client.crt", certified.folder / "client.key")
        with socket.create_connection(("127.0.0.1", certified.ports[name]), 10) as connection:
            with context.wrap_socket(connection, server_hostname="localhost") as encrypted:
                assert encrypted.version() == "TLSv1.3", name
                if name == "notify":
                    encrypted.sendall(b"ARTIQ sync_struct\nschedule\n")
                    assert encrypted.recv(1000).startswith(b'{"action": "init"')
    assert certified.ends(certified.run_of("Quick"))["status"] == "completed", "runs and commands need none"
    words = [sys.executable, "-m", "kairos", "watch", "total"]
    with bounded(subprocess.Popen(words, cwd=certified.folder, stdout=subprocess.PIPE, text=True)) as watch:
        assert watch.stdout.readline() == "total: 3\n"


def test_certificate_that_cannot_be_read_is_one_line(tmp_path):
    (tmp_path / "repository").mkdir()
    (tmp_path / "device_db.py").write_text("device_db = {}\n")
    (tmp_path / "lab.toml").write_text('[tls]\ncertificate = "none.crt"\nkey = "none.key"\n')
    one_line(run_kairos("lab", cwd=tmp_path), "[tls]: none.crt, none.key: No such file or directory")
    (tmp_path / "none.crt").write_text("no certificate")
    (tmp_path / "none.key").write_text("no key")
    one_line(run_kairos("lab", cwd=tmp_path), "[tls]: none.crt, none.key:")
    (tmp_path / "lab.toml").write_text('[tls]\ncertificate = "none.crt"\n')
    one_line(run_kairos("lab", cwd=tmp_path), "[tls] lacks 'key'")
