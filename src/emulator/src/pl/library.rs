//! `libkairos_pl.so`: the verilated gateware as a shared library, through the C interface of
//! `src/gateware/kairos_gateware/verilated/kairos_pl.h`. Its structures are in [`super::ports`].

use std::collections::BTreeMap;
use std::ffi::{c_void, CStr};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::gp::{Master, Slave};
use super::ports::{AbiFn, CycleFn, FreeFn, InfoFn, NewFn, ReadFn, RunFn, ShownFn};
pub use super::ports::{Inputs, Outputs, ABI, MAX_LINKS, MAX_PADS};
pub use super::recorded_outputs::{Output, Shown, Waveforms};
use super::wave::Wave;

impl Inputs {
    /// All zero.
    pub fn zero() -> Self {
        // SAFETY: plain integers.
        unsafe { std::mem::zeroed() }
    }

    /// Sets the signals of the master at GP0: bursts of one beat.
    pub fn set_gp0(&mut self, m: Master) {
        (self.gp0_awvalid, self.gp0_wvalid, self.gp0_arvalid) = (m.awvalid, m.wvalid, m.arvalid);
        (self.gp0_rready, self.gp0_bready) = (m.rready, m.bready);
        if m.arvalid != 0 {
            (self.gp0_araddr, self.gp0_arsize, self.gp0_arburst, self.gp0_arlen) = (m.address, m.size, 1, 0);
        }
        if m.awvalid != 0 {
            (self.gp0_awaddr, self.gp0_awsize, self.gp0_awburst, self.gp0_awlen) = (m.address, m.size, 1, 0);
        }
        if m.wvalid != 0 {
            (self.gp0_wdata, self.gp0_wstrb, self.gp0_wlast) = (m.wdata, m.wstrb, 1);
        }
    }

    /// Sets the signals of the master at GP1.
    pub fn set_gp1(&mut self, m: Master) {
        (self.gp1_awvalid, self.gp1_wvalid, self.gp1_arvalid) = (m.awvalid, m.wvalid, m.arvalid);
        (self.gp1_rready, self.gp1_bready) = (m.rready, m.bready);
        if m.arvalid != 0 {
            (self.gp1_araddr, self.gp1_arlen) = (m.address, 0);
        }
        if m.awvalid != 0 {
            (self.gp1_awaddr, self.gp1_awlen) = (m.address, 0);
        }
        if m.wvalid != 0 {
            (self.gp1_wdata, self.gp1_wstrb, self.gp1_wlast) = (m.wdata, m.wstrb, 1);
        }
    }
}

impl Outputs {
    /// All zero.
    pub fn zero() -> Self {
        // SAFETY: plain integers.
        unsafe { std::mem::zeroed() }
    }

    /// Signals of the slave at GP0.
    pub fn gp0(&self) -> Slave {
        Slave {
            awready: self.gp0_awready,
            wready: self.gp0_wready,
            arready: self.gp0_arready,
            rvalid: self.gp0_rvalid,
            rdata: self.gp0_rdata,
            rresp: self.gp0_rresp,
            bvalid: self.gp0_bvalid,
            bresp: self.gp0_bresp,
        }
    }

    /// Signals of the slave at GP1.
    pub fn gp1(&self) -> Slave {
        Slave {
            awready: self.gp1_awready,
            wready: self.gp1_wready,
            arready: self.gp1_arready,
            rvalid: self.gp1_rvalid,
            rdata: self.gp1_rdata,
            rresp: self.gp1_rresp,
            bvalid: self.gp1_bvalid,
            bresp: self.gp1_bresp,
        }
    }
}

/// A pad, as described by the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pad {
    /// Position in the pad arrays.
    pub index: usize,
    /// Name of its device.
    pub name: String,
    /// RTIO channel number.
    pub channel: u32,
    /// `out` or `inout`.
    #[serde(default)]
    pub direction: String,
}

/// The library's description of itself.
#[derive(Debug, Clone, Deserialize)]
pub struct Info {
    /// Name of the gateware variant.
    pub variant: String,
    /// The board for which it was made: name and hardware revision.
    #[serde(default)]
    pub board: String,
    /// Its pads.
    pub pads: Vec<Pad>,
    /// Clocks that it measures: for each name, the entries of the pad arrays that carry the bytes
    /// of the value, the least significant first.
    #[serde(default)]
    pub clocks: BTreeMap<String, Vec<usize>>,
    /// Outputs of pulse cores.
    #[serde(default)]
    pub outputs: Vec<Output>,
    /// Samples per cycle of these outputs.
    #[serde(default)]
    pub samples_per_cycle: u32,
    /// Its Shuttlers and Songbirds, whose outputs follow those of the pulse cores in the recording.
    #[serde(default)]
    pub waveforms: Vec<Waveforms>,
    /// Names of its links, in the order of the interface: `up`, to the upstream board, then `down1`,
    /// `down2`…
    #[serde(default)]
    pub links: Vec<String>,
    /// Whether there is a slave at port GP1.
    #[serde(default)]
    pub window: bool,
    /// Waves of its clock generators.
    #[serde(default)]
    pub waves: Vec<WaveInfo>,
}

/// A wave of a clock generator, as described by the library.
#[derive(Debug, Clone, Deserialize)]
pub struct WaveInfo {
    /// Index of its pad.
    pub pad: u16,
    /// Bits of its accumulator.
    pub bits: u32,
    /// First of the eight entries of the pad arrays that carry accumulator and word.
    pub state: usize,
}

impl WaveInfo {
    /// The wave in a quiet cycle with these outputs; `None` if it is stopped. Outputs of other
    /// cycles do not carry it.
    pub fn wave(&self, outputs: &Outputs) -> Option<Wave> {
        let number = |at: usize| {
            let bytes = &outputs.pads_o[at..at + 4];
            bytes
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        let wave = Wave {
            pad: self.pad,
            half: 1 << (self.bits - 1),
            accumulator: number(self.state),
            word: number(self.state + 4),
        };
        (wave.word != 0).then_some(wave)
    }
}

/// A loaded library with one instance of the logic, in the state after power-up reset.
pub struct Library {
    instance: *mut c_void,
    cycle: CycleFn,
    run: RunFn,
    read: ReadFn,
    shown: Option<ShownFn>,
    new: NewFn,
    free: FreeFn,
    /// The library's description of itself.
    pub info: Info,
    /// The gateware's descriptor, from the file beside the library; empty if there is none.
    pub descriptor: Vec<u8>,
    _library: libloading::Library,
}

impl Library {
    /// Loads the library at `path`. The error is a one-line message for the user.
    pub fn load(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        if !path.exists() {
            return Err(format!(
                "gateware library {shown} does not exist; build it with `make gateware`"
            ));
        }
        let path = path
            .canonicalize()
            .map_err(|e| format!("gateware library {shown}: {e}"))?;
        // SAFETY: the library is built from our own gateware; its initialisers are those of the C++
        // runtime.
        let library = unsafe { libloading::Library::new(&path) }
            .map_err(|e| format!("gateware library {shown} cannot be loaded: {e}"))?;
        // SAFETY: types as in kairos_pl.h; the ABI number is checked before anything else is used.
        unsafe {
            let get_abi: AbiFn = symbol(&library, "kairos_pl_abi", &shown)?;
            let abi = get_abi();
            if abi != ABI {
                return Err(format!(
                    "gateware library {shown} has interface version {abi}, this emulator needs {ABI}; rebuild it with \
                     `make gateware`"
                ));
            }
            let info: InfoFn = symbol(&library, "kairos_pl_info", &shown)?;
            let text = CStr::from_ptr(info()).to_string_lossy().into_owned();
            let info: Info = serde_json::from_str(&text)
                .map_err(|e| format!("gateware library {shown}: its description cannot be read: {e}"))?;
            let clocks = info
                .clocks
                .iter()
                .flat_map(|(name, pads)| pads.iter().map(move |index| (name, index)));
            let waves: Vec<usize> = info.waves.iter().map(|wave| wave.state + 7).collect();
            let waves = info
                .waves
                .iter()
                .map(|wave| &info.pads[usize::from(wave.pad)].name)
                .zip(&waves);
            let mut pads = info.pads.iter().map(|p| (&p.name, &p.index)).chain(clocks).chain(waves);
            if let Some((name, index)) = pads.find(|(_, index)| **index >= MAX_PADS) {
                return Err(format!("gateware library {shown}: pad {name} has index {index}"));
            }
            let mut this = Self {
                instance: std::ptr::null_mut(),
                cycle: symbol(&library, "kairos_pl_cycle", &shown)?,
                run: symbol(&library, "kairos_pl_run", &shown)?,
                read: symbol(&library, "kairos_pl_read", &shown)?,
                shown: if info.outputs.is_empty() && info.waveforms.is_empty() {
                    None
                } else {
                    Some(symbol(&library, "kairos_pl_shown", &shown)?)
                },
                new: symbol(&library, "kairos_pl_new", &shown)?,
                free: symbol(&library, "kairos_pl_free", &shown)?,
                info,
                descriptor: std::fs::read(path.with_file_name("descriptor.bin")).unwrap_or_default(),
                _library: library,
            };
            this.reset()?;
            Ok(this)
        }
    }

    /// Replaces the instance by a new one.
    pub fn reset(&mut self) -> Result<(), String> {
        // SAFETY: functions of the library; the instance belongs to `self`.
        unsafe {
            if !self.instance.is_null() {
                (self.free)(self.instance);
            }
            self.instance = (self.new)();
        }
        if self.instance.is_null() {
            return Err("the gateware library is out of memory".into());
        }
        Ok(())
    }

    /// Runs one clock cycle.
    pub fn cycle(&mut self, inputs: &Inputs, outputs: &mut Outputs) {
        // SAFETY: the instance is valid; the structures have the header's layout.
        unsafe { (self.cycle)(self.instance, inputs, outputs) }
    }

    /// Runs up to `n` cycles with constant inputs; see `kairos_pl_run`.
    pub fn run(&mut self, inputs: &Inputs, outputs: &mut Outputs, n: u64) -> u64 {
        // SAFETY: the instance is valid, and both structures stay in place during the call.
        unsafe { (self.run)(self.instance, inputs, outputs, n, u64::MAX) }
    }

    /// Reads a register while the logic is quiescent. Returns the word and the number of cycles
    /// taken, by which the counter then lags; see `kairos_pl_read`. `None` if the whole logic has
    /// to be clocked for it.
    pub fn read(&mut self, address: u32, size: u32) -> Option<(u32, u64)> {
        let mut word = 0;
        // SAFETY: the instance is valid.
        let cycles = unsafe { (self.read)(self.instance, address, size.trailing_zeros(), &mut word) };
        (cycles != 0).then_some((word, cycles.into()))
    }

    /// Waves of running clock generators, in a cycle with these outputs, if it was quiet.
    pub fn waves<'a>(&'a self, outputs: &'a Outputs) -> impl Iterator<Item = Wave> + 'a {
        self.info.waves.iter().filter_map(|info| info.wave(outputs))
    }

    /// The recording of these outputs since the instance was created.
    pub fn shown(&self) -> Shown<'_> {
        let (mut words, mut complete) = (std::ptr::null(), 1);
        let Some(shown) = self.shown else {
            return Shown {
                words: &[],
                complete: true,
            };
        };
        // SAFETY: the instance is valid; the library keeps the words until its next cycle, which
        // needs a new borrow of `self`.
        unsafe {
            let count = shown(self.instance, &mut words, &mut complete) as usize;
            let words = if count == 0 {
                &[]
            } else {
                std::slice::from_raw_parts(words, count)
            };
            Shown {
                words,
                complete: complete != 0,
            }
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if !self.instance.is_null() {
            // SAFETY: created by the same library.
            unsafe { (self.free)(self.instance) }
        }
    }
}

/// Looks up a function of the library.
///
/// # Safety
/// `T` must be a function pointer of the symbol's type.
unsafe fn symbol<T: Copy>(
    library: &libloading::Library,
    name: &str,
    shown: &dyn std::fmt::Display,
) -> Result<T, String> {
    // SAFETY: guaranteed by the caller; the pointer is used no longer than the library, which
    // `Library` keeps.
    unsafe { library.get::<T>(name.as_bytes()) }
        .map(|s| *s)
        .map_err(|_| format!("{shown} is not a Kairos gateware library: it has no function {name}"))
}
