//! Asynchronous readback from the device.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;

use crate::{Gpu, GpuError};

/// A pending readback.
#[derive(Debug)]
pub struct Pending {
    gpu: Arc<Gpu>,
    buffer: wgpu::Buffer,
    answer: Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Pending {
    /// Copies ranges (offset, size) of buffers, concatenated, after everything submitted so far.
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
            // The receiver is gone if the request was dropped.
            let _ = send.send(result);
        });
        Pending {
            gpu: gpu.clone(),
            buffer,
            answer,
        }
    }

    /// The data in vectors of four numbers, if it has arrived; does not block.
    pub fn poll(&self) -> Option<Result<Vec<[f32; 4]>, GpuError>> {
        // The loss of the device is reported through the request itself.
        let _ = self.gpu.device.poll(wgpu::PollType::Poll);
        match self.answer.try_recv() {
            Ok(result) => Some(self.take(result)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(GpuError::Lost("the readback was dropped".to_owned())))
            }
        }
    }

    /// Waits for the data.
    pub fn wait(self) -> Result<Vec<[f32; 4]>, GpuError> {
        loop {
            self.gpu.wait()?;
            // Another thread may have polled the device and not have sent the result yet.
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
