//! The conformance suite on the fast backend.

mod conformance {
    use supple_sim::conformance::Precision;
    use supple_sim::{Backend, CpuBackend};

    supple_sim::backend_tests!(
        || -> Box<dyn Backend> { Box::new(CpuBackend::new()) },
        Precision::Single
    );
}
