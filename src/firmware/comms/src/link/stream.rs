//! A stream of bytes to or from a service of another board.

use core::future::poll_fn;
use core::task::{Context, Poll};

use super::Link;
use crate::wire::{Lost, Wire};

/// A stream, open until it is dropped.
pub struct LinkStream {
    pub(super) link: &'static Link,
    pub(super) number: usize,
}

impl LinkStream {
    /// Reads some bytes; 0 at the end.
    pub fn poll_read(&self, cx: &Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize, Lost>> {
        let read = self.link.end.borrow_mut().poll_read(self.number, cx, buffer);
        if read.is_ready() {
            // The read frees buffer space, which is granted to the other end.
            self.link.wake.signal(());
        }
        read.map_err(|_| Lost)
    }

    async fn write(&self, mut bytes: &[u8]) -> Result<(), Lost> {
        while !bytes.is_empty() {
            let written = poll_fn(|cx| self.link.end.borrow_mut().poll_write(self.number, cx, bytes)).await;
            self.link.wake.signal(());
            bytes = &bytes[written.map_err(|_| Lost)?..];
        }
        Ok(())
    }

    /// Copies from this stream to the other until either ends.
    pub(super) async fn copy_to(&self, other: &Self) {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = poll_fn(|cx| self.poll_read(cx, &mut buffer)).await {
            if other.write(&buffer[..count]).await.is_err() {
                return;
            }
        }
    }
}

impl Drop for LinkStream {
    fn drop(&mut self) {
        self.link.end.borrow_mut().close(self.number);
        self.link.wake.signal(());
    }
}

impl Wire for LinkStream {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Lost> {
        poll_fn(|cx| self.poll_read(cx, buffer)).await
    }

    async fn write_all(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        self.write(bytes).await
    }
}
