//! A general-purpose port: a 32-bit AXI3 master, one access at a time.

/// An access by a core.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Byte address.
    pub address: u32,
    /// 1, 2 or 4 bytes.
    pub size: u32,
    /// The value to store (right-aligned), or `None` for a load.
    pub store: Option<u32>,
}

impl Access {
    /// Extracts the loaded value from a word, right-aligned.
    pub fn loaded(&self, word: u32) -> u32 {
        let mask = if self.size == 4 { !0 } else { (1 << (8 * self.size)) - 1 };
        word >> (8 * (self.address & 3)) & mask
    }
}

/// Signals of the master in a cycle; those that are the same for each access are in
/// [`super::library::Inputs`].
#[allow(missing_docs)]
#[derive(Default, Clone, Copy)]
pub struct Master {
    pub awvalid: u8,
    pub wvalid: u8,
    pub arvalid: u8,
    pub address: u32,
    pub size: u8,
    pub wdata: u32,
    pub wstrb: u8,
    pub rready: u8,
    pub bready: u8,
}

/// Signals of the slave in a cycle.
#[allow(missing_docs)]
#[derive(Default, Clone, Copy)]
pub struct Slave {
    pub awready: u8,
    pub wready: u8,
    pub arready: u8,
    pub rvalid: u8,
    pub rdata: u32,
    pub rresp: u8,
    pub bvalid: u8,
    pub bresp: u8,
}

/// Result of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Loaded value, right-aligned.
    pub data: u32,
    /// The AXI response: 2, SLVERR; 3, DECERR.
    pub response: u8,
    /// The cycle of the response.
    pub cycle: u64,
}

impl Answer {
    /// Whether the access has failed.
    pub fn failed(&self) -> bool {
        self.response & 2 != 0
    }
}

/// The access in progress.
#[derive(Default)]
pub struct Gp {
    access: Option<Access>,
    address_sent: bool,
    data_sent: bool,
    answer: Option<Answer>,
}

impl Gp {
    /// Whether no access is in progress and no answer is pending.
    pub fn idle(&self) -> bool {
        self.access.is_none()
    }

    /// Begins an access.
    pub fn start(&mut self, access: Access) {
        *self = Self {
            access: Some(access),
            ..Self::default()
        };
    }

    /// The pending answer, if there is one.
    pub fn answer(&self) -> Option<Answer> {
        self.answer
    }

    /// Takes the answer, which makes the port idle again.
    pub fn finish(&mut self) -> Option<Answer> {
        let answer = self.answer.take()?;
        self.access = None;
        Some(answer)
    }

    /// Abandons the access.
    pub fn abandon(&mut self) {
        *self = Self::default();
    }

    /// This side's signals for a cycle. It is always ready for a response.
    pub fn drive(&self) -> Master {
        let nothing = Master {
            rready: 1,
            bready: 1,
            ..Master::default()
        };
        let Some(a) = self.access.filter(|_| self.answer.is_none()) else {
            return nothing;
        };
        let common = Master {
            address: a.address,
            size: a.size.trailing_zeros() as u8,
            ..nothing
        };
        match a.store {
            None => Master {
                arvalid: (!self.address_sent).into(),
                ..common
            },
            Some(value) => Master {
                awvalid: (!self.address_sent).into(),
                wvalid: (!self.data_sent).into(),
                wdata: value << (8 * (a.address & 3)),
                wstrb: (((1 << a.size) - 1) << (a.address & 3)) as u8,
                ..common
            },
        }
    }

    /// Performs the handshakes of a cycle in which `drive` gave `i`.
    pub fn sample(&mut self, cycle: u64, i: Master, o: Slave) {
        let Some(a) = self.access else { return };
        self.address_sent |= i.arvalid & o.arready != 0 || i.awvalid & o.awready != 0;
        self.data_sent |= i.wvalid & o.wready != 0;
        if i.rready & o.rvalid != 0 {
            self.answer = Some(Answer {
                data: a.loaded(o.rdata),
                response: o.rresp,
                cycle,
            });
        }
        if i.bready & o.bvalid != 0 {
            self.answer = Some(Answer {
                data: 0,
                response: o.bresp,
                cycle,
            });
        }
    }
}
