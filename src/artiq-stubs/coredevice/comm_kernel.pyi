"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.session import Session as CommKernel
from kairos.compat.clients import CommKernelDummy as CommKernelDummy
from kairos.exceptions import RPCReturnValueError as RPCReturnValueError
from kairos.exceptions import UnsupportedDevice as UnsupportedDevice
from kairos.exceptions import LoadError as LoadError
from kairos.exceptions import ClockFailure as ClockFailure
