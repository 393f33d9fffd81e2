//! Requests with data: values, boot images and batches, which are received into the shared buffer.

use crc::{Crc, CRC_32_ISO_HDLC};
use embassy_time::{with_deadline, Instant};
use kairos_chip::reset::Mark;
use kairos_config::keys::{self, Key};
use kairos_proto::management::{reply, Item, Kind, RequestDecoder};
use log::Level;

use super::{Connection, Measures, DATA_MAX, DATA_TIMEOUT};
use crate::close_reason::CloseReason;
use crate::wire::{patience, Wire};
use crate::{batch, boot_image};

const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

impl<W: Wire, M: Measures> Connection<'_, W, M> {
    /// Receives an image or a value, and processes it as the newest request demands.
    pub(super) async fn receive(&mut self, decoder: &mut RequestDecoder, input: &mut &[u8]) -> Result<(), CloseReason> {
        let length = decoder.request().length;
        // Data that are too long are received and discarded, so that the next request can be found;
        // this needs no buffer and delays no other client.
        let mut store = match length as usize <= DATA_MAX {
            true => Some(self.data.lock().await),
            false => None,
        };
        let deadline = Instant::now() + patience(length as usize);
        let mut filled = 0;
        let mut buffer = [0; 1024];
        loop {
            // First the bytes received with the request, then new ones, but none beyond its end.
            let last = if length == 0 || !input.is_empty() {
                let piece = decoder.next(input)?;
                append(store.as_deref_mut(), &mut filled, piece)
            } else {
                let rest = (length as usize - filled).min(buffer.len());
                let read = self.wire.read(&mut buffer[..rest]);
                let until = deadline.min(Instant::now() + DATA_TIMEOUT);
                let late = |_| timed_out(filled, length);
                let mut fresh = match with_deadline(until, read).await.map_err(late)?? {
                    0 => return Err(CloseReason::CutOff),
                    count => &buffer[..count],
                };
                let piece = decoder.next(&mut fresh)?;
                append(store.as_deref_mut(), &mut filled, piece)
            };
            if last {
                break;
            }
        }
        let Some(store) = store.as_deref_mut() else {
            let reason = format_args!("management: {length} bytes are too many, the limit is {DATA_MAX}");
            return self.fail(Level::Warn, reason).await;
        };
        let (data, rest) = store.split_at_mut(length as usize);
        let data = &*data;
        let request = decoder.request();
        if request.kind == Kind::Batch {
            let Some(length) = batch::answer(data, rest).await else {
                let reason = format_args!("management: a batch of {length} bytes leaves no space for its results");
                return self.fail(Level::Warn, reason).await;
            };
            return self.answer(&reply::batch(length as u32), &rest[..length]).await;
        }
        if request.kind == Kind::Flash {
            return self.flash(data).await;
        }
        let key = request.key.as_str();
        if !keys::is_valid(key, data) {
            return self
                .fail(Level::Warn, format_args!("configuration: {key}: invalid value"))
                .await;
        }
        if let Err(unbootable) = boot_image::check_value(key, data) {
            return self.fail_boot_image(unbootable).await;
        }
        let result = self.config.write(key, data);
        self.changed(key, result).await
    }

    /// Replaces the boot image and reboots, if its checksum is right and this device can boot from
    /// it.
    async fn flash(&mut self, image: &[u8]) -> Result<(), CloseReason> {
        let Some((image, sent)) = image.split_last_chunk::<4>() else {
            let length = image.len();
            self.fail_boot_image(format_args!("an image of {length} bytes has no checksum"))
                .await?;
            return Err(CloseReason::Closed);
        };
        let (sent, computed) = (u32::from_le_bytes(*sent), CRC.checksum(image));
        if sent != computed {
            let reason = format_args!("its checksum is {computed:#010x}, not {sent:#010x} as sent");
            return self.fail_boot_image(reason).await;
        }
        if let Err(unbootable) = boot_image::check_value(Key::Boot.name(), image) {
            return self.fail_boot_image(unbootable).await;
        }
        if let Err(error) = self.config.write(Key::Boot.name(), image) {
            return self.fail_access(Key::Boot.name(), error).await;
        }
        log::info!("boot image replaced, {} bytes", image.len());
        self.send(&reply::REBOOT_IMMINENT).await?;
        Err(CloseReason::Restart(Mark::Nothing))
    }
}

/// Stores a piece of an image or value, if the whole fits. Returns true for the last piece.
fn append(buffer: Option<&mut &'static mut [u8]>, filled: &mut usize, piece: Option<Item<'_>>) -> bool {
    let Some(Item::Data { data, last }) = piece else {
        return false;
    };
    if let Some(buffer) = buffer {
        buffer[*filled..*filled + data.len()].copy_from_slice(data);
    }
    *filled += data.len();
    last
}

#[cold]
fn timed_out(filled: usize, length: u32) -> CloseReason {
    log::warn!("management: a value of {length} bytes timed out after {filled} bytes");
    CloseReason::Late
}
