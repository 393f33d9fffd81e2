"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.network.analyzer import fetch as get_analyzer_dump
from kairos.network.analyzer import decode as decode_dump
from kairos.network.analyzer import Dump as DecodedDump
from kairos.network.analyzer import OutputMessage as OutputMessage
from kairos.network.analyzer import InputMessage as InputMessage
from kairos.network.analyzer import ExceptionMessage as ExceptionMessage
from kairos.network.analyzer import StoppedMessage as StoppedMessage
from kairos.contracts.analyzer import Message as MessageType
from kairos.contracts.analyzer import Exception as ExceptionType
from kairos.compat.clients import decoded_dump_to_vcd as decoded_dump_to_vcd
