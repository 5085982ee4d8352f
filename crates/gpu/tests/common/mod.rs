//! The device that tests run on.

use std::sync::{Arc, OnceLock};

use supple_gpu::{Gpu, Options};

/// The device, opened once. Without one: `None` and a printed reason, or a failure if `SUPPLE_REQUIRE_GPU` is set.
pub fn device() -> Option<Arc<Gpu>> {
    static DEVICE: OnceLock<Option<Arc<Gpu>>> = OnceLock::new();
    DEVICE
        .get_or_init(|| match Gpu::open(Options::default()) {
            Ok(gpu) => Some(gpu),
            Err(error) => {
                assert!(
                    std::env::var_os("SUPPLE_REQUIRE_GPU").is_none(),
                    "SUPPLE_REQUIRE_GPU is set: {error}"
                );
                println!("skipped: {error}");
                None
            }
        })
        .clone()
}
