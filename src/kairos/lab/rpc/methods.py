"""The calls of the service: each takes its request and returns its response.

What is wrong with a request is a UsageError or ValueError, whose text the client gets.
"""

import asyncio
import contextvars

from ... import pyon
from ...errors import UsageError
from ...quantities import Quantity
from .. import history
from ..service import Service
from . import devices, fits, runs, submissions
from .protocol import message
from .streams import SHOWN, layout
from .values import from_json, in_unit, text_of

__all__ = ["Methods", "caller"]

caller: contextvars.ContextVar[str | None] = contextvars.ContextVar("caller", default=None)
"""The client that calls; None if the hub has no tokens."""

LIMIT, MOST = 100, 1000
"""Rows that are returned by default, and at most."""
WARNING = 30


class Methods:
    """The calls to a laboratory."""

    def __init__(self, laboratory):
        self._lab = laboratory
        self._service = Service(laboratory, caller.get)

    async def laboratory_status(self, request):
        status = self._service.status()
        folder = self._lab.settings.folder
        name = status["name"] or folder.name
        return message("StatusResponse", name=name, folder=str(folder), queue=status["queue"], runs=status["runs"] or 0)

    async def experiments_scan(self, request):
        await self._service.scan(request.revision or None)
        return message("ScanResponse")

    # The queue

    async def queue_submit(self, request):
        rid = await self._service.submit(
            {**submissions.expid(request), "log_level": request.log_level or WARNING},
            request.pipeline if request.HasField("pipeline") else None,
            request.priority if request.HasField("priority") else None,
            request.due if request.HasField("due") else None,
            request.flush if request.HasField("flush") else None,
            repeat=request.repeat,
        )
        if rid is None:
            raise UsageError("the laboratory is ending")
        return message("SubmitResponse", rid=rid)

    async def queue_move(self, request):
        self._service.move(request.rid, request.other, not request.behind)
        return message("MoveResponse")

    async def queue_hold(self, request):
        self._service.hold(request.rid, request.note)
        return message("HoldResponse")

    async def queue_release(self, request):
        self._service.release(request.rid)
        return message("ReleaseResponse")

    async def queue_edit(self, request):
        changed = {name: getattr(request, name) for name in ("priority", "pipeline") if request.HasField(name)}
        if request.HasField("due"):
            changed["due_date"] = request.due or None
        self._service.edit(request.rid, **changed)
        return message("EditResponse")

    async def queue_terminate(self, request):
        self._service.terminate(request.rid, request.force)
        # Whether it is to terminate is shown, too.
        self._lab.scheduler.publication.changed([])
        return message("TerminateResponse")

    async def queue_lock(self, request):
        self._service.lock(request.kind, request.name, request.seconds, request.note)
        return message("LockResponse")

    async def queue_unlock(self, request):
        self._service.unlock(request.kind, request.name, request.force)
        return message("UnlockResponse")

    async def queue_answer(self, request):
        if request.cancel:
            self._lab.interactive.cancel(request.rid)
        else:
            self._lab.interactive.supply(request.rid, from_json(request.arguments))
        return message("AnswerResponse")

    # Values

    async def datasets_set(self, request):
        before = self._lab.datasets.values.get(request.key)
        if request.HasField("seen"):
            self._check_seen(request.key, request.seen)
        known = before[2] if before else {}
        metadata = in_unit(known, request.unit) if request.HasField("unit") else None
        value = pyon.typed(request.value)
        if request.in_unit:
            value = Quantity.of(known if metadata is None else metadata).unscaled(value)
        persist = request.persist if request.HasField("persist") else None
        self._service.set_dataset(request.key, value, persist, metadata)
        return message("SetDatasetResponse")

    def _check_seen(self, key: str, seen: str):
        """Refuse to set a dataset that is not as the client has seen it, unless a run has changed it."""
        entry, people = self._lab.datasets.values.get(key), self._lab.datasets.by_people
        now = "" if entry is None else text_of(entry[1])
        if now != seen and (key in people or not seen):
            by = f", by {people[key]}" if people.get(key) else ""
            is_now = f"is {now} by now" if entry is not None else "is deleted by now"
            raise UsageError(f"{key} {is_now}{by}: look at it, and set it again if you still want to")

    async def datasets_delete(self, request):
        if request.key not in self._lab.datasets.values:
            raise LookupError(f"dataset '{request.key}'")
        self._service.delete_dataset(request.key)
        return message("DeleteDatasetResponse")

    async def parameters_history(self, request):
        found = self._service.parameter_history(request.key, min(request.limit or LIMIT, MOST))
        writes = [
            message(
                "ParameterWrite",
                number=row["id"],
                time=row["time"],
                value=row["value"] or "",
                rid=row["rid"],
                person=row["person"] or "",
            )
            for row in found
        ]
        return message("ParameterHistoryResponse", writes=writes)

    async def parameters_restore(self, request):
        self._service.restore_parameter(request.key, request.number)
        return message("RestoreParameterResponse")

    # Calibrations

    async def calibrations_start(self, request):
        number = self._service.calibrate(request.names, request.force)
        return message("StartCalibrationResponse", number=number)

    async def calibrations_stop(self, request):
        self._service.stop_calibration(request.number)
        return message("StopCalibrationResponse")

    async def calibrations_decide(self, request):
        self._service.decide(request.number, request.accept, request.note)
        return message("DecideResponse")

    async def alarms_acknowledge(self, request):
        self._service.acknowledge(request.name, request.note)
        return message("AcknowledgeResponse")

    # Devices

    async def devices_channels(self, request):
        monitor = self._lab.monitors.of(request.device)
        with monitor.following():
            await monitor.ready()
            return message("DeviceChannelsResponse", channels=devices.channels(monitor))

    async def devices_override(self, request):
        level = request.level if request.HasField("level") else None
        await self._service.override(request.device, request.name, level)
        return message("OverrideResponse")

    async def devices_set(self, request):
        values = dict(request.values)
        rid = await self._service.set_output(request.device, request.name, values, request.initialise)
        return message("SetOutputResponse", rid=rid)

    # Logbook and layouts

    async def logbook_write(self, request):
        rid = request.rid if request.HasField("rid") else None
        return message("WriteEntryResponse", number=self._service.write_entry(request.text, rid, request.picture))

    async def logbook_edit(self, request):
        self._service.edit_entry(request.number, request.version, request.text)
        return message("EditEntryResponse")

    async def logbook_picture(self, request):
        return message("EntryPictureResponse", picture=self._service.entry_picture(request.number))

    async def logbook_export(self, request):
        text, pictures = self._service.export_logbook(list(request.words), request.since, request.until)
        return message("ExportLogbookResponse", markdown=text, pictures=pictures)

    async def layouts_get(self, request):
        return message("GetLayoutResponse", layout=layout(self._service.layout(request.name, request.version)))

    async def layouts_save(self, request):
        number = self._service.save_layout(request.name, request.content, request.version)
        return message("SaveLayoutResponse", version=number)

    # Fits

    async def fits_fit(self, request):
        found = await self._lab.fits.of_run(request.rid, fits.described(request.fit))
        return message("FitResponse", result=fits.result(found))

    async def fits_keep(self, request):
        found = await self._lab.fits.keep(request.rid, request.name, fits.described(request.fit))
        self._lab.note_changed()
        return message("KeepFitResponse", result=fits.result(found))

    # Ended runs

    async def runs_find(self, request):
        limit, database = min(request.limit or LIMIT, MOST), self._lab.database
        found = await asyncio.to_thread(history.records, database, list(request.words), limit, True)
        details = await asyncio.to_thread(history.detailed, database, found, SHOWN)
        return message("FindRunsResponse", runs=[runs.ended(each) for each in details])

    async def runs_show(self, request):
        return await runs.shown(self._lab, self._service.run(request.rid))

    async def runs_thumbnail(self, request):
        choices = [(each.y, each.x) for each in request.choices]
        return await runs.thumbnail(runs.file_of(self._lab, self._service.run(request.rid)), choices)

    async def runs_waveform(self, request):
        return await runs.waveform(runs.file_of(self._lab, self._service.run(request.rid)), request.recorded)

    async def runs_diff(self, request):
        files = [runs.file_of(self._lab, self._service.run(rid)) for rid in (request.rid, request.other)]
        return runs.different(await self._lab.checks.diff(*files, request.recorded))

    async def runs_repeat(self, request):
        changed = {name: pyon.decode(text) for name, text in request.arguments.items()}
        return message("RepeatRunResponse", rid=await self._service.repeat(request.rid, **changed))

    async def runs_analyze(self, request):
        return message("AnalyzeRunResponse", rid=await self._service.analyze(request.rid))

    async def runs_tag(self, request):
        self._service.tag(request.rid, request.tag, request.remove)
        return message("TagRunResponse")

    async def runs_note(self, request):
        self._service.note(request.rid, request.text)
        return message("NoteRunResponse")
