//! Opens a device, and detects its loss.

use std::sync::{Arc, Mutex, OnceLock};

use crate::GpuError;
use crate::kernels::{Pipelines, Touching};

/// Which device to open.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether a software driver is acceptable.
    pub software: bool,
    /// Graphics APIs to search.
    pub backends: wgpu::Backends,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            software: true,
            backends: wgpu::Backends::PRIMARY,
        }
    }
}

/// An open device with its compiled kernels, shared by everything that runs on it.
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) pipelines: Pipelines,
    touching: OnceLock<Touching>,
    name: String,
    software: bool,
    failure: Arc<Mutex<Option<String>>>,
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu").field("name", &self.name).finish()
    }
}

impl Gpu {
    /// Opens the best device: a discrete GPU before an integrated one before a software driver.
    pub fn open(options: Options) -> Result<Arc<Gpu>, GpuError> {
        pollster::block_on(Gpu::open_async(options))
    }

    /// As [`Gpu::open`], for browsers, where blocking is not allowed.
    pub async fn open_async(options: Options) -> Result<Arc<Gpu>, GpuError> {
        let adapter = find_adapter(options).await?;
        let info = adapter.get_info();
        let limits = required_limits(&info.name, adapter.limits())?;
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("supple"),
                required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
                required_limits: limits,
                ..Default::default()
            })
            .await
            .map_err(|error| GpuError::NoDevice(error.to_string()))?;
        let failure = watch(&device);
        let pipelines = Pipelines::new(&device);
        let gpu = Gpu {
            device,
            queue,
            pipelines,
            touching: OnceLock::new(),
            name: info.name,
            software: info.device_type == wgpu::DeviceType::Cpu,
            failure,
        };
        gpu.check()?;
        Ok(Arc::new(gpu))
    }

    /// Contact kernels, compiled on first use.
    pub(crate) fn touching(&self) -> &Touching {
        self.touching.get_or_init(|| Touching::new(&self.device))
    }

    /// Name of the adapter.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is a software driver.
    pub fn is_software(&self) -> bool {
        self.software
    }

    /// Whether the device has timestamps for [`StageTimes`](crate::StageTimes).
    pub fn has_clock(&self) -> bool {
        self.device
            .features()
            .contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// Destroys the device. Everything that still uses it fails from now on.
    pub fn destroy(&self) {
        self.device.destroy();
    }

    /// Returns an error if the device has failed since it was opened.
    pub fn check(&self) -> Result<(), GpuError> {
        let failure = self.failure.lock().map(|failure| failure.clone());
        match failure {
            Ok(None) => Ok(()),
            Ok(Some(reason)) => Err(GpuError::Lost(reason)),
            Err(_) => Err(GpuError::Lost("its error handler panicked".to_owned())),
        }
    }

    /// Largest buffer a kernel can bind \[bytes\].
    pub(crate) fn largest_binding(&self) -> u64 {
        let limits = self.device.limits();
        limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
    }

    /// Waits for everything submitted so far.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        let poll = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        poll.map(|_| ())
            .map_err(|error| GpuError::Lost(error.to_string()))
    }
}

/// Whether there may be a GPU. On a Linux machine without one, Mesa's layers print errors about a missing display when they are
/// queried; looking at `/dev` first avoids that.
fn may_have_hardware() -> bool {
    const NODES: [&str; 6] = ["dri", "nvidia", "dxg", "mali", "kgsl", "pvr"];
    let is_named = |name| std::env::var_os(name).is_some();
    if !cfg!(target_os = "linux") || is_named("VK_DRIVER_FILES") || is_named("VK_ICD_FILENAMES") {
        return true;
    }
    let Ok(devices) = std::fs::read_dir("/dev") else {
        return true;
    };
    let mut names = devices.flatten().map(|entry| entry.file_name());
    names.any(|name| {
        let name = name.to_string_lossy();
        NODES.iter().any(|node| name.starts_with(node))
    })
}

async fn find_adapter(options: Options) -> Result<wgpu::Adapter, GpuError> {
    if !options.software && !may_have_hardware() {
        return Err(GpuError::NoDevice(
            "this machine has no graphics processor".to_owned(),
        ));
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = options.backends;
    // No validation layers: they are missing on most machines, and slow.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    let adapters = instance.enumerate_adapters(options.backends).await;
    adapters
        .into_iter()
        .filter(|adapter| options.software || rank(adapter) < 4)
        .min_by_key(rank)
        .ok_or_else(|| GpuError::NoDevice("no driver found".to_owned()))
}

/// Limits to request: WebGPU's defaults for what kernels depend on, the adapter's maximum for sizes.
fn required_limits(adapter: &str, offered: wgpu::Limits) -> Result<wgpu::Limits, GpuError> {
    let least = wgpu::Limits::default();
    let needs = [
        (
            "storage buffers per stage",
            u64::from(offered.max_storage_buffers_per_shader_stage),
            u64::from(least.max_storage_buffers_per_shader_stage),
        ),
        (
            "invocations per workgroup",
            u64::from(offered.max_compute_invocations_per_workgroup),
            u64::from(least.max_compute_invocations_per_workgroup),
        ),
        (
            "bytes of workgroup memory",
            u64::from(offered.max_compute_workgroup_storage_size),
            u64::from(least.max_compute_workgroup_storage_size),
        ),
        (
            "workgroups per dispatch",
            u64::from(offered.max_compute_workgroups_per_dimension),
            u64::from(least.max_compute_workgroups_per_dimension),
        ),
    ];
    for (limit, found, needed) in needs {
        if found < needed {
            return Err(GpuError::TooSmall {
                adapter: adapter.to_owned(),
                limit,
                found,
                needed,
            });
        }
    }
    Ok(wgpu::Limits {
        max_storage_buffers_per_shader_stage: least.max_storage_buffers_per_shader_stage,
        max_compute_invocations_per_workgroup: least.max_compute_invocations_per_workgroup,
        max_compute_workgroup_storage_size: least.max_compute_workgroup_storage_size,
        ..offered
    })
}

/// Records the first error, instead of wgpu's default panic.
fn watch(device: &wgpu::Device) -> Arc<Mutex<Option<String>>> {
    let failure = Arc::new(Mutex::new(None));
    let note = |failure: &Arc<Mutex<Option<String>>>, reason: String| {
        if let Ok(mut slot) = failure.lock() {
            slot.get_or_insert(reason);
        }
    };
    let slot = failure.clone();
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        note(&slot, error.to_string());
    }));
    let slot = failure.clone();
    device.set_device_lost_callback(move |reason, message| {
        note(&slot, format!("{reason:?}: {message}"));
    });
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_driver_is_an_error() {
        let options = Options {
            backends: wgpu::Backends::empty(),
            ..Options::default()
        };
        assert!(matches!(Gpu::open(options), Err(GpuError::NoDevice(_))));
    }

    #[test]
    fn small_limits_are_named() {
        let offered = wgpu::Limits {
            max_storage_buffers_per_shader_stage: 4,
            ..wgpu::Limits::default()
        };
        let error = required_limits("Tiny", offered).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the graphics device Tiny allows 4 storage buffers per stage, but 8 are needed; use the CPU backend"
        );
        assert!(required_limits("Usual", wgpu::Limits::default()).is_ok());
    }
}
