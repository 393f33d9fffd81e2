//! The general-purpose port GP0: an AXI3 master of 32 bits, one access at a time.

use super::library::{Inputs, Outputs};

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

/// The access under way.
#[derive(Default)]
pub struct Gp {
    access: Option<Access>,
    address_sent: bool,
    data_sent: bool,
    result: Option<(u32, u8)>,
}

impl Gp {
    /// Nothing under way.
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

    /// The data (right-aligned) and AXI response of the finished access; the port is idle again.
    pub fn finish(&mut self) -> Option<(u32, u8)> {
        let result = self.result.take()?;
        self.access = None;
        Some(result)
    }

    /// Gives up on the access.
    pub fn abandon(&mut self) {
        *self = Self::default();
    }

    /// Sets this side's signals for a cycle.
    pub fn drive(&self, i: &mut Inputs) {
        (i.gp0_arvalid, i.gp0_awvalid, i.gp0_wvalid, i.gp0_rready, i.gp0_bready) = (0, 0, 0, 0, 0);
        let Some(a) = self.access else { return };
        let (size, shift) = (a.size.trailing_zeros() as u8, 8 * (a.address & 3));
        match a.store {
            None => {
                i.gp0_arvalid = (!self.address_sent).into();
                (i.gp0_araddr, i.gp0_arsize, i.gp0_arburst, i.gp0_arlen) = (a.address, size, 1, 0);
                i.gp0_rready = 1;
            }
            Some(value) => {
                i.gp0_awvalid = (!self.address_sent).into();
                (i.gp0_awaddr, i.gp0_awsize, i.gp0_awburst, i.gp0_awlen) = (a.address, size, 1, 0);
                i.gp0_wvalid = (!self.data_sent).into();
                i.gp0_wdata = value << shift;
                i.gp0_wstrb = (((1 << a.size) - 1) << (a.address & 3)) as u8;
                i.gp0_wlast = 1;
                i.gp0_bready = 1;
            }
        }
    }

    /// Performs the handshakes of a cycle.
    pub fn sample(&mut self, i: &Inputs, o: &Outputs) {
        let Some(a) = self.access else { return };
        self.address_sent |= i.gp0_arvalid & o.gp0_arready != 0 || i.gp0_awvalid & o.gp0_awready != 0;
        self.data_sent |= i.gp0_wvalid & o.gp0_wready != 0;
        if a.store.is_none() && i.gp0_rready & o.gp0_rvalid != 0 {
            let mask = if a.size == 4 { !0 } else { (1 << (8 * a.size)) - 1 };
            self.result = Some((o.gp0_rdata >> (8 * (a.address & 3)) & mask, o.gp0_rresp));
        }
        if a.store.is_some() && i.gp0_bready & o.gp0_bvalid != 0 {
            self.result = Some((0, o.gp0_bresp));
        }
    }
}
