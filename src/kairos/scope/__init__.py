"""All activity of a run on a common time axis, as an HTML page: `kairos run --scope`, `kairos analyze --scope`.

A page consists of lanes (:mod:`.lanes`). They are built from pin activity (:mod:`.pins`, with the
words on serial buses, :mod:`.serial`), and from the recording of a device's analyzer
(:mod:`.record`). The page contains data and viewer, and needs nothing else (:mod:`.page`).
"""
