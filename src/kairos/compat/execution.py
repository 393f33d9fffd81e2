"""Code that clients send to a controller, with the names of ``sipyco.remote_exec``: it runs next to the
device, without a round trip for each of its calls. Clients are trusted with the machine."""

import inspect

from ..controllers import Client, serve

__all__ = ["RemoteExecServer", "connect_global_rpc", "simple_rexec_server_loop"]

MASTER_PORT = 3251


class RemoteExecServer:
    """A target that adds code to its names and calls functions in them."""

    def __init__(self, initial_namespace: dict):
        self.namespace = dict(initial_namespace)
        # Code imports and reads names as a module does.
        self.namespace["controller_initial_namespace"] = initial_namespace

    def add_code(self, code: str):
        """Execute Python source among the names."""
        exec(compile(inspect.cleandoc(code), "<code of a client>", "exec"), self.namespace)

    def call(self, function: str, *args, **kwargs):
        """Call a function by name; returns its result."""
        return self.namespace[function](*args, **kwargs)


def simple_rexec_server_loop(target_name, target, host, port, description=None):
    """Serve a controller under `target_name`, and under that name with ``_rexec`` appended the execution
    of code, in which ``controller_driver`` is the controller."""
    executor = RemoteExecServer({"controller_driver": target})
    serve({target_name: target, f"{target_name}_rexec": executor}, host, port, description, allow_parallel=True)


def connect_global_rpc(
    controller_rexec, host=None, port: int = MASTER_PORT, target: str = "master_dataset_db", name: str = "dataset_db"
):
    """Make the target of a laboratory service available to code as `name`; `host`: by default the
    client's own address is unknown here, so it must be given where it is another computer's."""
    client = f"__import__({Client.__module__!r}, fromlist=['Client']).Client"
    controller_rexec.add_code(f"{name} = {client}({host or '127.0.0.1'!r}, {port}, {target!r})")
