//! Numbers that come back from the device, now or later.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;

use crate::{Gpu, GpuError};

/// Data on its way back from the device.
#[derive(Debug)]
pub struct Pending {
    gpu: Arc<Gpu>,
    buffer: wgpu::Buffer,
    answer: Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Pending {
    /// Copies ranges (offset, size) of buffers, one after the other, once everything submitted so far is done.
    pub(crate) fn new(gpu: &Arc<Gpu>, ranges: &[(&wgpu::Buffer, u64, u64)]) -> Pending {
        let total: u64 = ranges.iter().map(|(_, _, size)| size).sum();
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: total.max(16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut at = 0;
        for (from, offset, size) in ranges {
            encoder.copy_buffer_to_buffer(from, *offset, &buffer, at, *size);
            at += size;
        }
        gpu.queue.submit([encoder.finish()]);
        let (send, answer) = channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // Nobody listens any more when the request was dropped.
            let _ = send.send(result);
        });
        Pending {
            gpu: gpu.clone(),
            buffer,
            answer,
        }
    }

    /// The numbers, four at a time, if they have arrived; does not block.
    pub fn poll(&self) -> Option<Result<Vec<[f32; 4]>, GpuError>> {
        // A lost device answers through the request itself.
        let _ = self.gpu.device.poll(wgpu::PollType::Poll);
        match self.answer.try_recv() {
            Ok(result) => Some(self.take(result)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(GpuError::Lost("no answer".to_owned()))),
        }
    }

    /// Waits for the numbers.
    pub fn wait(self) -> Result<Vec<[f32; 4]>, GpuError> {
        loop {
            self.gpu.wait()?;
            // Another thread may have polled the answer and be about to hand it over.
            match self.answer.recv_timeout(Duration::from_millis(5)) {
                Ok(result) => return self.take(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(error) => return Err(GpuError::Lost(error.to_string())),
            }
        }
    }

    fn take(&self, result: Result<(), wgpu::BufferAsyncError>) -> Result<Vec<[f32; 4]>, GpuError> {
        let lost = |reason: String| GpuError::Lost(reason);
        result.map_err(|error| lost(error.to_string()))?;
        self.gpu.check()?;
        let view = self
            .buffer
            .get_mapped_range(..)
            .map_err(|error| lost(error.to_string()))?;
        Ok(bytemuck::pod_collect_to_vec(&view[..]))
    }
}
