//! Health of this board's subsystems, for the management request `health` (`docs/interfaces.md`).

use core::fmt::{self, Write};

use embassy_time::Instant;
use kairos_clocking::clock_watch::Measured;
use kairos_contracts::registers::clock as names;
use kairos_health::sensors::SUPPLIES;
use kairos_health::status::{Lower, Report, State};
use kairos_intercore::{Shared, State as KernelState};
use kairos_pl::Register;

use crate::link::Links;
use crate::sensors::Latest;
use crate::{clock, gateware, kernel_core, logger, report, sensors, stack, watchdog};

/// Writes the health report as JSON.
pub fn describe(links: Links, out: &mut dyn Write) -> fmt::Result {
    let mut report = Report::begin(out)?;
    board(&mut report)?;
    chip(&mut report)?;
    rtio_clock(&mut report)?;
    rtio(&mut report)?;
    satellites(&mut report, links)?;
    kernel(&mut report)?;
    memory(&mut report)?;
    report.end()
}

fn board(report: &mut Report) -> fmt::Result {
    let (state, text) = match (watchdog::missing(), report::was_reset_by_watchdog()) {
        (true, _) => (
            State::Bad,
            "a task has no heartbeat: the watchdog is about to reset the device",
        ),
        (false, true) => (State::Warning, "the watchdog reset the device before this start"),
        (false, false) => (State::Good, ""),
    };
    report.subsystem("watchdog", state, text, |values| {
        values.thousandths("uptime_seconds", Instant::now().as_millis() as i64)
    })
}

fn chip(report: &mut Report) -> fmt::Result {
    let reading = match sensors::latest() {
        Latest::Read(reading) => reading,
        Latest::None => return report.subsystem("sensors", State::Absent, "the XADC gives no readings", |_| Ok(())),
    };
    let state = State::unless(State::Warning, reading.is_good());
    let text = match state {
        State::Good => "",
        _ => "too hot, or a supply is out of limits",
    };
    report.subsystem("sensors", state, text, |values| {
        values.thousandths("temperature_celsius", reading.temperature.into())?;
        for (millivolts, supply) in reading.supplies.iter().zip(&SUPPLIES) {
            values.thousandths(format_args!("{}_volts", Lower(supply.name)), (*millivolts).into())?;
        }
        Ok(())
    })
}

fn rtio_clock(report: &mut Report) -> fmt::Result {
    let Ok(descriptor) = kairos_pl::descriptor() else {
        return report.subsystem(
            "clock",
            State::Absent,
            "there is no gateware, or it has no clock",
            |_| Ok(()),
        );
    };
    let (state, text) = match clock::state() {
        clock::ClockState::Good => (State::Good, ""),
        clock::ClockState::ReferenceFailed => (
            State::Warning,
            "the external clock has failed, the synthesiser runs without it",
        ),
        clock::ClockState::Lost => (State::Bad, "RTIO has no clock"),
    };
    report.subsystem("clock", state, text, |values| {
        if let Some(clock) = descriptor.clock() {
            values.count("rtio_hertz", clock.frequency)?;
        }
        for (name, register) in [
            ("synthesiser_hertz", names::SYNTHESISER),
            ("reference_hertz", names::REFERENCE),
        ] {
            if let Some(register) = Register::find(&descriptor, register) {
                values.count(name, Measured::new(register.read()).0)?;
            }
        }
        Ok(())
    })
}

fn rtio(report: &mut Report) -> fmt::Result {
    if kairos_pl::descriptor().is_err() {
        return report.subsystem("rtio", State::Absent, "RTIO is not available", |_| Ok(()));
    }
    let [collisions, busy, sequence] = gateware::error_counts();
    let well = collisions + busy + sequence == 0;
    let text = if well {
        ""
    } else {
        "events were lost since the start; the log names their channels"
    };
    report.subsystem("rtio", State::unless(State::Warning, well), text, |values| {
        values.count("collisions_total", collisions)?;
        values.count("busy_errors_total", busy)?;
        values.count("sequence_errors_total", sequence)
    })
}

fn satellites(report: &mut Report, links: Links) -> fmt::Result {
    let (all, up) = links.counts();
    let (state, text) = match all {
        0 => (State::Absent, ""),
        _ if up == all => (State::Good, ""),
        _ => (State::Bad, "a link is down, or the firmware behind it does not answer"),
    };
    report.subsystem("links", state, text, |values| {
        values.count("links", all)?;
        values.count("links_up", up)
    })
}

fn kernel(report: &mut Report) -> fmt::Result {
    let counts = kernel_core::counts();
    let (state, text) = match Shared::get().state() {
        KernelState::Faulted => (State::Warning, "a kernel has failed; the next one restarts the core"),
        _ if counts.silences > 0 => (State::Warning, "the core did not answer, even after a reset"),
        _ => (State::Good, ""),
    };
    report.subsystem("kernel_core", state, text, |values| {
        values.count("restarts_total", counts.restarts)?;
        values.count("resets_total", counts.resets)?;
        values.count("faults_total", counts.faults)
    })
}

fn memory(report: &mut Report) -> fmt::Result {
    let (used, size) = stack::mark();
    let well = used < size / 4 * 3;
    let text = if well {
        ""
    } else {
        "more than three quarters of the stack were used"
    };
    let (length, dropped) = logger::filling();
    report.subsystem("memory", State::unless(State::Warning, well), text, |values| {
        values.count("stack_used_bytes", used)?;
        values.count("stack_size_bytes", size)?;
        values.count("log_bytes", length as u32)?;
        values.count("log_dropped_bytes", dropped)
    })
}
