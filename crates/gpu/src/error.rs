//! Errors of the graphics device.

use supple_sim::SolveError;

/// Why the graphics device cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuError {
    /// No adapter, or no adapter that provides a device.
    #[error("no usable graphics device ({0})")]
    NoDevice(String),
    /// The device offers less than WebGPU's defaults.
    #[error(
        "the graphics device {adapter} allows {found} {limit}, but {needed} are needed; use the CPU backend"
    )]
    TooSmall {
        /// Name of the adapter.
        adapter: String,
        /// Name of the limit.
        limit: &'static str,
        /// The adapter's limit.
        found: u64,
        /// The kernels' requirement.
        needed: u64,
    },
    /// The model is too large for the device.
    #[error(
        "the model needs {bytes} bytes for {what}, but the graphics device allows {limit}; use fewer bodies or the CPU backend"
    )]
    TooLarge {
        /// Name of the table.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The largest size allowed.
        limit: u64,
    },
    /// The device was lost or ran out of memory.
    #[error("the graphics device was lost ({0})")]
    Lost(String),
    /// The model or settings were rejected.
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
