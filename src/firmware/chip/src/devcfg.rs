//! The device configuration interface (UG585, section 6.4.5): whether the PL is configured, and its
//! configuration through PCAP, to which the interface's DMA transfers a bitstream from memory.

use core::ptr::read_volatile;

const INTERRUPT_STATUS: usize = 0xF800_700C;
/// The PL is configured and has started.
const PL_DONE: u32 = 1 << 2;

fn read(register: usize) -> u32 {
    // SAFETY: a register of this interface; a read has no effect.
    unsafe { read_volatile(register as *const u32) }
}

/// Whether the PL is configured. Otherwise accesses to it never complete.
pub fn is_configured() -> bool {
    read(INTERRUPT_STATUS) & PL_DONE != 0
}

#[cfg(feature = "drivers")]
pub use load::{configure, Error};

#[cfg(feature = "drivers")]
mod load {
    use core::fmt;
    use core::ptr::write_volatile;

    use embassy_time::{Duration, Instant};
    use zynq7000_hal::slcr::Slcr;
    use zynq7000_hal::{cache, pl};

    use super::{is_configured, read, INTERRUPT_STATUS};

    const CONTROL: usize = 0xF800_7000;
    const STATUS: usize = 0xF800_7014;
    /// Source, destination, and the length of each in words; writing the last one starts the
    /// transfer.
    const TRANSFER: [usize; 4] = [0xF800_7018, 0xF800_701C, 0xF800_7020, 0xF800_7024];
    const UNLOCK: usize = 0xF800_7034;
    const MISCELLANEOUS: usize = 0xF800_7080;
    const LVL_SHFTR_EN: *mut u32 = 0xF800_0900 as *mut u32;

    const PROG_B: u32 = 1 << 30;
    /// Configuration through PCAP, not ICAP or JTAG; at the full rate.
    const PCAP: u32 = 1 << 27 | 1 << 26;
    const QUARTER_RATE: u32 = 1 << 25;
    const LOOPBACK: u32 = 1 << 4;
    const PL_INIT: u32 = 1 << 4;
    const DMA_DONE: u32 = 1 << 13;
    /// All flags of a failed transfer: bus errors, time-outs, a full queue, lengths that differ.
    const FAILED: u32 = 0x00f0_c800 | 1 << 18;
    const UNLOCK_KEY: u32 = 0x757B_DF0D;
    /// In an address: marks the last transfer of a series.
    const LAST: u32 = 1;
    /// The destination address that stands for the PL.
    const PL: u32 = !0;
    /// Both level shifters between the processing system and the PL.
    const SHIFTERS: u32 = 0xf;
    /// The largest bitstream takes 45 ms at the 400 MB/s of PCAP.
    const LONGEST: Duration = Duration::from_millis(200);
    /// Clearing the PL's memory, and its start-up, take less than half of this.
    const REACTION: Duration = Duration::from_millis(20);
    /// Instructions between two polls of a status.
    const PAUSE: u32 = 2000;

    /// Why the PL is not configured.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Error {
        /// The PL does not clear its memory.
        Init,
        /// The transfer has failed; interrupt status.
        Transfer(u32),
        /// Everything has been transferred, but the PL has not started.
        NotDone,
    }

    impl fmt::Display for Error {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let text = match self {
                Error::Transfer(status) => {
                    return write!(f, "the transfer to the PL has failed, status {status:#010x}");
                }
                Error::Init => "the PL does not answer: has it power?",
                Error::NotDone => "the PL does not accept this bitstream: it is damaged or incomplete",
            };
            f.write_str(text)
        }
    }

    fn write(register: usize, value: u32) {
        // SAFETY: a register of this interface, written only by `configure`, which has exclusive
        // use of the PL.
        unsafe { write_volatile(register as *mut u32, value) };
    }

    /// Waits until `done`, at most for `limit`; then fails with `otherwise`.
    fn wait(limit: Duration, done: impl Fn() -> bool, otherwise: Error) -> Result<(), Error> {
        let end = Instant::now() + limit;
        while !done() {
            if Instant::now() >= end {
                return Err(otherwise);
            }
            for _ in 0..PAUSE {
                core::hint::black_box(());
            }
        }
        Ok(())
    }

    /// Configures the PL with the words of a bitstream, which must be in the PL's byte order and
    /// aligned to 64 bytes.
    ///
    /// # Safety
    /// Nothing may use the PL meanwhile.
    pub unsafe fn configure(bitstream: &[u8]) -> Result<(), Error> {
        let (address, words) = (bitstream.as_ptr() as u32, bitstream.len() as u32 / 4);
        assert!(address.is_multiple_of(64), "a bitstream is not aligned");
        cache::clean_data_cache_range(address, bitstream.len().next_multiple_of(32)).expect("aligned");

        // Isolate the processing system from the old gateware, and hold the PL in reset while the
        // new one starts. SAFETY: promised by the caller.
        unsafe { Slcr::with(|_| LVL_SHFTR_EN.write_volatile(0)) };
        pl::assert_reset();
        write(UNLOCK, UNLOCK_KEY);
        let control = (read(CONTROL) | PCAP | PROG_B) & !QUARTER_RATE;
        for (program, initialised) in [(PROG_B, None), (0, Some(false)), (PROG_B, Some(true))] {
            write(CONTROL, control & !PROG_B | program);
            if let Some(initialised) = initialised {
                wait(REACTION, || (read(STATUS) & PL_INIT != 0) == initialised, Error::Init)?;
            }
        }
        write(INTERRUPT_STATUS, !0);
        write(MISCELLANEOUS, read(MISCELLANEOUS) & !LOOPBACK);
        for (register, value) in TRANSFER.into_iter().zip([address | LAST, PL, words, words]) {
            write(register, value);
        }
        let ended = || read(INTERRUPT_STATUS) & (DMA_DONE | FAILED) != 0;
        wait(LONGEST, ended, Error::Transfer(read(INTERRUPT_STATUS)))?;
        let status = read(INTERRUPT_STATUS);
        if status & FAILED != 0 {
            return Err(Error::Transfer(status));
        }
        wait(REACTION, is_configured, Error::NotDone)?;
        // SAFETY: the level shifters of a PL that is configured, and still held in reset.
        unsafe { Slcr::with(|_| LVL_SHFTR_EN.write_volatile(SHIFTERS)) };
        pl::deassert_reset();
        log::info!("PL configured, {} bytes", bitstream.len());
        Ok(())
    }
}
