# Atom imaging (Rydberg table).  Gateware: cards
# One row per device. Numbers are those on the printout of the gateware; ask before you renumber!
import csv

TABLE = """
name           ; driver                   ; arguments
core           ; core:Core                ; host="table3-soc.local", ref_period=1/1e9, target="cortexa9"
core_cache     ; cache:CoreCache          ;
core_dma       ; dma:CoreDMA              ;
ttl photodiode ; ttl:TTLInOut             ; channel=0
ttl camera     ; ttl:TTLOut               ; channel=1
EMCCD          ; cxp_grabber:CXPGrabber   ; channel=0x2F, count_width=31
rydberg rf     ; phaser:Phaser            ; channel_base=44, miso_delay=1, gw_rev=2
mw             ; ad9914:AD9914            ; sysclk=3e9, bus_channel=2, channel=0
# pulser       ; ad9914:AD9914            ; sysclk=3e9, bus_channel=2, channel=1
E-field relay  ; shuttler:Relay           ; spi_device="E-field relay bus"
E-field relay bus ; spi2:SPIMaster        ; channel=3
E-field        ; shuttler:Config          ; channel=0x0A
E-field go     ; shuttler:Trigger         ; channel=0x0B
"""


def rows(text):
    lines = [line for line in text.strip().splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines, delimiter=";"):
        yield {key.strip(): (value or "").strip() for key, value in row.items()}


device_db = {}
for _row in rows(TABLE):
    _module, _, _class = _row["driver"].partition(":")
    device_db[_row["name"]] = {
        "type": "local",
        "module": "artiq.coredevice." + _module,
        "class": _class,
        "arguments": eval(f"dict({_row['arguments']})"),
        "comment": "row of the table",
    }
# electrodes, clockwise from the window
for _n, _electrode in enumerate("N NE E SE S SW W NW".split()):
    device_db["E-field " + _electrode] = device_db["E-field"] | {"class": "DCBias", "arguments": {"channel": 12 + _n}}
device_db["camera"], device_db["grabber"] = "EMCCD", "camera"
device_db["andor_settings"] = {
    "type": "controller",
    "host": "*",
    "port": 3290,
    "command": "cxp_ctl -p {port} --no-localhost-bind",
}
del _row, _n, _electrode
