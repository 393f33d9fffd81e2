"""``kairos controllers``: starts the controllers of a device database, or lists which of them answer."""

import asyncio
import json
import logging
import shlex
import signal

from ..controllers import Client, ControllerError, ManagerTarget, Server, Supervisor
from ..controllers.sockets import LOCAL, bound
from ..devices import DeviceDB
from ..errors import UsageError
from ..terminal_text import log_plainly

__all__ = ["controllers"]

logger = logging.getLogger(__name__)


def controllers(args) -> int:
    """Run the controllers of the command line `args` until Ctrl-C or SIGTERM; returns the exit
    code."""
    supervisor = Supervisor(DeviceDB.load(args.device_db).entries, args.bind)
    if not supervisor.controllers:
        raise UsageError(
            f"{args.device_db} has no controller for this computer: an entry of type 'controller' needs a 'command', "
            "and an address of this computer as 'host'"
        )
    if args.list:
        return _list(supervisor, args.json)
    log_plainly("%(levelname)s: %(message)s", logging.INFO)
    asyncio.run(_run_until_signal(supervisor, args.port))
    return 0


async def _run_until_signal(supervisor: Supervisor, port: int):
    server = Server({"ctlmgr": ManagerTarget(supervisor)}, builtin_terminate=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, server.terminate)
    for connection in bound(LOCAL, port, "the controller manager"):
        await server.serve_on(connection)
        port = connection.getsockname()[1]
    logger.info("controllers are managed at port %d", port)
    task = asyncio.create_task(supervisor.run())
    await server.wait_terminate()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await server.stop()


def _list(supervisor: Supervisor, as_json: bool) -> int:
    """Print one line per controller; returns exit code 1 if one does not answer."""
    silent = 0
    for controller in supervisor.controllers:
        command = shlex.join(controller.command)
        target = None
        try:
            client = Client(controller.host, controller.port, controller.target, 2.0, controller.encryption)
            target = client.get_selected_target()
            state = f"answers, target {target}"
            client.close_rpc()
        except ControllerError as error:
            silent += 1
            state = str(error)
        if as_json:
            status = {"answers": True, "target": target} if target is not None else {"answers": False, "why": state}
            print(json.dumps({"name": controller.name, "command": command, **status}))
        else:
            print(f"{controller.name:20} {command}\n{'':20} {state}")
    return 1 if silent else 0
