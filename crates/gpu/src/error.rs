//! What can go wrong on a device.

use supple_sim::SolveError;

/// Why the graphics processor cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuError {
    /// No adapter, or none that gives a device.
    #[error("no usable graphics device ({0})")]
    NoDevice(String),
    /// The device offers less than WebGPU's defaults.
    #[error("{adapter} allows {found} for {limit}, {needed} are needed")]
    TooSmall {
        /// Name of the adapter.
        adapter: String,
        /// Name of the limit.
        limit: &'static str,
        /// What the adapter allows.
        found: u64,
        /// What the kernels need.
        needed: u64,
    },
    /// The model does not fit.
    #[error("the model needs {bytes} bytes for {what}, the graphics device allows {limit}")]
    TooLarge {
        /// Name of the table.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The largest size allowed.
        limit: u64,
    },
    /// The device is gone or ran out of memory.
    #[error("the graphics device was lost ({0})")]
    Lost(String),
    /// Model or settings.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl From<GpuError> for SolveError {
    fn from(error: GpuError) -> SolveError {
        match error {
            GpuError::Solve(error) => error,
            other => SolveError::Device {
                backend: "gpu",
                reason: other.to_string(),
            },
        }
    }
}
