"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.controllers import AutoTarget as AutoTarget
from kairos.controllers import Client as Client
from kairos.controllers import AsyncClient as AsyncioClient
from kairos.controllers import BestEffortClient as BestEffortClient
from kairos.controllers import Server as Server
from kairos.controllers import Incompatible as IncompatibleServer
from kairos.compat.controllers import simple_server_loop as simple_server_loop
