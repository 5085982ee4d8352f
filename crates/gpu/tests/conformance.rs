//! The conformance suite of `supple-sim` on the device.

mod common;

use common::device;
use supple_gpu::{Gpu, GpuBackend};
use supple_sim::Backend;
use supple_sim::conformance::{self, Precision};

fn backend() -> Option<Box<dyn Backend>> {
    device().map(|gpu| Box::new(GpuBackend::new(gpu)) as Box<dyn Backend>)
}

macro_rules! on_device {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                if let Some(mut backend) = backend() {
                    conformance::$name(&mut *backend, Precision::Single);
                }
            }
        )*
    };
}

on_device!(
    rest_pose rigid_root_motion constant_velocity free_fall linear_momentum angular_momentum
    patch_test settles_to_the_static_solution energy_never_rises
    equilibrium_is_within_its_tolerance weights_are_those_of_a_model_built_so
    materials_are_those_of_a_model_built_so
    recovers_from_garbage degenerate_models agrees_with_the_reference carried_jump
    refuses_bad_input violent_motion every_constraint_and_option
    global_step_beats_ten_cg_iterations
    pads_press_and_part pads_rub contact_agrees_with_the_reference leaning_columns_push_straight
    colliders_rub
);

#[test]
fn deterministic() {
    if device().is_some() {
        conformance::deterministic(|| backend().expect("the device is there"));
    }
}

#[test]
fn the_device_has_a_name() {
    if let Some(gpu) = device() {
        assert!(!Gpu::name(&gpu).is_empty());
    }
}
