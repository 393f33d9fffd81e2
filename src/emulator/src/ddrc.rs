//! DDR controller (0xF8006000): storage, and the one thing a loader waits for: that it runs. Registers: UG585, appendix B.7.

const CONTROL: u32 = 0;
const MODE_STATUS: u32 = 0x54;
const OUT_OF_RESET: u32 = 1;

/// The controller.
pub struct Ddrc {
    words: Vec<u32>,
    running: bool,
}

impl Ddrc {
    /// Running, or in reset.
    pub fn new(running: bool) -> Self {
        Self {
            words: vec![0; 0x400],
            running,
        }
    }

    /// Reads the register at `offset`.
    pub fn read(&self, offset: u32) -> u32 {
        match offset {
            MODE_STATUS => self.running.into(), // 1: normal operation
            o => self.words[o as usize / 4 % 0x400],
        }
    }

    /// Writes a register. Returns true if DDR comes up; `clocked` says whether it can.
    pub fn write(&mut self, offset: u32, value: u32, clocked: bool) -> bool {
        self.words[offset as usize / 4 % 0x400] = value;
        if offset != CONTROL || value & OUT_OF_RESET == 0 || self.running {
            return false;
        }
        if !clocked {
            log::warn!("ddrc: taken out of reset without clocks or calibrated pins");
        }
        self.running = clocked;
        clocked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_up_once() {
        let mut d = Ddrc::new(false);
        assert!(!d.write(CONTROL, 0x80, true) && !d.write(CONTROL, 0x81, false));
        assert_eq!(d.read(MODE_STATUS), 0);
        assert!(d.write(CONTROL, 0x81, true) && !d.write(CONTROL, 0x81, true));
        assert_eq!(d.read(MODE_STATUS), 1);
    }
}
