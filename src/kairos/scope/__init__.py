"""All activity of a run on a common time axis, as an HTML page: `kairos run --scope`, `kairos analyze --scope`.

A page has lanes (:mod:`.lanes`). They are made of what pins did (:mod:`.pins`, with the words on
serial buses, :mod:`.serial`), and of what the analyzer of a device has recorded (:mod:`.record`).
The page holds data and viewer, and needs nothing else (:mod:`.page`).
"""
