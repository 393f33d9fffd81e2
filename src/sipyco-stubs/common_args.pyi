"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.compat.controllers import bind_address_from_args as bind_address_from_args
from kairos.compat.controllers import init_logger_from_args as init_logger_from_args
from kairos.compat.controllers import simple_network_args as simple_network_args
from kairos.compat.controllers import verbosity_args as verbosity_args
