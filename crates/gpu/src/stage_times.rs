//! Timing with the device's timestamps.

use crate::{Gpu, GpuError};

/// Time of each stage of a step: (stage, sum over its dispatches, device time \[ms\]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageTimes(pub Vec<(&'static str, f64)>);

impl StageTimes {
    pub(crate) fn add(&mut self, stage: &'static str, time: f64) {
        match self.0.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, sum)) => *sum += time,
            None => self.0.push((stage, time)),
        }
    }
}

/// Timestamps at the beginning and end of passes.
pub(crate) struct Timestamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    pub passes: u32,
    next: u32,
}

impl Timestamps {
    /// `None` if the device has no timestamps.
    pub fn new(gpu: &Gpu, passes: u32) -> Option<Timestamps> {
        if !gpu.has_clock() {
            return None;
        }
        let set = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("times"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * passes,
        });
        let resolved = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("times"),
            size: 16 * u64::from(passes),
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        Some(Timestamps {
            set,
            resolved,
            passes,
            next: 0,
        })
    }

    /// Timestamp writes of the next pass.
    pub fn writes(&mut self) -> wgpu::ComputePassTimestampWrites<'_> {
        let first = 2 * self.next;
        self.next = (self.next + 1).min(self.passes - 1);
        wgpu::ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        }
    }

    /// Encodes the readback; call it after the passes.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.set, 0..2 * self.passes, &self.resolved, 0);
    }

    /// Milliseconds of each pass.
    pub fn read(&self, gpu: &std::sync::Arc<Gpu>) -> Result<Vec<f64>, GpuError> {
        let size = self.resolved.size();
        let numbers = crate::readback::Pending::new(gpu, &[(&self.resolved, 0, size)]).wait()?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&numbers);
        let period = f64::from(gpu.queue.get_timestamp_period()) * 1e-6;
        Ok(ticks
            .chunks_exact(2)
            .map(|pair| pair[1].saturating_sub(pair[0]) as f64 * period)
            .collect())
    }
}
