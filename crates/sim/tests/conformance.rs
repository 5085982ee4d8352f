//! The conformance suite on the reference backend.

mod reference {
    use supple_sim::conformance::Precision;
    use supple_sim::{Backend, Reference};

    supple_sim::backend_tests!(
        || -> Box<dyn Backend> { Box::new(Reference::new()) },
        Precision::Double
    );
}
