//! The kernels: one `.wgsl` file each, checked without a device by the tests below.

/// How a kernel uses a storage buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads only.
    Read,
    /// Reads and writes.
    Write,
}
use Access::{Read, Write};

/// A compute kernel: binding 0 is a uniform, the storage buffers follow.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Entry point.
    pub name: &'static str,
    /// Texts that make up the module.
    pub sources: &'static [&'static str],
    /// Storage buffers from binding 1 on.
    pub access: &'static [Access],
}

impl Kernel {
    /// The whole module. Kernels that begin with `contact.wgsl` get the constants of `contact_rules.rs` before it.
    pub fn text(&self) -> String {
        let text = self.sources.concat();
        match self.sources.first() {
            Some(&CONTACT_TEXT) => crate::contact_rules::wgsl() + &text,
            _ => text,
        }
    }
}

const COMMON: &str = include_str!("kernels/common.wgsl");
const POLAR: &str = include_str!("kernels/polar.wgsl");
const STRESS: &str = include_str!("kernels/stress.wgsl");
const PROJECT_TEXT: &str = include_str!("kernels/project.wgsl");
const NO_FORCES: &str = include_str!("kernels/project_free.wgsl");
const FINISH_TEXT: &str = include_str!("kernels/finish.wgsl");
const CONTACT_TEXT: &str = include_str!("kernels/contact.wgsl");
const PATCH_SOLVE_TEXT: &str = include_str!("kernels/patch_solve.wgsl");
const PATCH_SOLVE_SINGLE: &str = include_str!("kernels/patch_solve_single.wgsl");
const RESIDUAL: &str = include_str!("kernels/patch_residual.wgsl");
/// Bodies that share a workgroup if there are at least this many. Tables are then read once for all of them.
pub const BATCH: u32 = 4;
const SINGLE: &str = "const BODIES: u32 = 1u;\n";
const BATCHED: &str = "const BODIES: u32 = 4u;\n";
const KRYLOV: &[&str] = &[include_str!("kernels/krylov.wgsl")];
const KRYLOV_ACCESS: &[Access] = &[Read, Read, Read, Write, Write, Write, Read, Write];

/// Start of a step.
pub const PREDICT: Kernel = Kernel {
    name: "predict",
    sources: &[COMMON, include_str!("kernels/predict.wgsl")],
    access: &[Write, Write, Write, Read, Read, Read, Write, Write],
};
/// Local step and forces, for one body and for [`BATCH`] bodies per workgroup.
pub const PROJECT: [Kernel; 2] = [
    project(&[SINGLE, COMMON, POLAR, STRESS, NO_FORCES, PROJECT_TEXT]),
    project(&[BATCHED, COMMON, POLAR, STRESS, NO_FORCES, PROJECT_TEXT]),
];
/// Global step, for one body and for [`BATCH`] bodies per workgroup.
pub const PATCH_SOLVE: [Kernel; 2] = [
    patch_solve(&[COMMON, RESIDUAL, PATCH_SOLVE_TEXT, PATCH_SOLVE_SINGLE]),
    patch_solve(&[
        COMMON,
        RESIDUAL,
        PATCH_SOLVE_TEXT,
        include_str!("kernels/patch_solve_batch.wgsl"),
    ]),
];
/// End of a step.
pub const FINISH: Kernel = Kernel {
    name: "finish",
    sources: &[
        COMMON,
        include_str!("kernels/finish_free.wgsl"),
        FINISH_TEXT,
    ],
    access: &[Read, Write, Write],
};

/// Kernels of a step with contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Skin points and normals.
    Points,
    /// Bounding boxes of prisms.
    Boxes,
    /// Detection of self-contact.
    Search,
    /// Response of contacts to forces (diagonal of the contact matrix).
    Answers,
    /// One update of contact forces.
    Forces,
    /// Local step.
    Project,
    /// Displacement due to changed contact forces.
    Shift,
    /// Velocities.
    Finish,
    /// Detection of contact with colliders.
    Collide,
}

/// In the order of [`Touch`].
pub const CONTACT: [Kernel; 9] = [
    Kernel {
        name: "contact_points",
        sources: &[CONTACT_TEXT, include_str!("kernels/contact_points.wgsl")],
        access: &[Read, Read, Read, Read, Write, Read, Write, Write],
    },
    Kernel {
        name: "contact_boxes",
        sources: &[CONTACT_TEXT, include_str!("kernels/contact_boxes.wgsl")],
        access: &[Read, Read, Write],
    },
    Kernel {
        name: "contact_search",
        sources: &[CONTACT_TEXT, include_str!("kernels/contact_search.wgsl")],
        access: &[Read, Read, Read, Read, Write, Write, Write, Read],
    },
    Kernel {
        name: "contact_answers",
        sources: &[CONTACT_TEXT, include_str!("kernels/contact_answers.wgsl")],
        access: &[Write, Write, Write, Read, Read, Read, Read],
    },
    Kernel {
        name: "contact_forces",
        sources: &[CONTACT_TEXT, include_str!("kernels/contact_forces.wgsl")],
        access: &[Read, Write, Read, Write],
    },
    Kernel {
        name: "project",
        sources: &[
            SINGLE,
            COMMON,
            POLAR,
            STRESS,
            include_str!("kernels/project_touching.wgsl"),
            PROJECT_TEXT,
        ],
        access: &[Read, Read, Read, Read, Read, Read, Write, Write],
    },
    patch_solve(&[
        COMMON,
        include_str!("kernels/patch_changes.wgsl"),
        PATCH_SOLVE_TEXT,
        PATCH_SOLVE_SINGLE,
    ]),
    Kernel {
        name: "finish",
        sources: &[
            COMMON,
            include_str!("kernels/finish_touching.wgsl"),
            FINISH_TEXT,
        ],
        access: &[Read, Write, Write, Read, Read],
    },
    Kernel {
        name: "contact_collide",
        sources: &[CONTACT_TEXT, include_str!("kernels/contact_collide.wgsl")],
        access: &[Read, Read, Read, Write, Write, Write],
    },
];

/// Targets from frames.
pub const FOLLOW: Kernel = Kernel {
    name: "follow",
    sources: &[include_str!("kernels/follow.wgsl")],
    access: &[Read, Read, Read, Read, Write, Write, Write, Write],
};
/// Positions and normals of simulated skin vertices.
pub const SKIN_SAMPLES: Kernel = Kernel {
    name: "skin_samples",
    sources: &[include_str!("kernels/skin_samples.wgsl")],
    access: &[Read, Read, Read, Read, Write],
};
/// The full skin.
pub const UPSAMPLE: Kernel = Kernel {
    name: "upsample",
    sources: &[include_str!("kernels/upsample.wgsl")],
    access: &[Read, Read, Read, Read, Write, Read, Read],
};

const fn project(sources: &'static [&'static str]) -> Kernel {
    Kernel {
        name: "project",
        sources,
        access: &[Read, Read, Read, Read, Read, Read, Write],
    }
}

const fn patch_solve(sources: &'static [&'static str]) -> Kernel {
    Kernel {
        name: "patch_solve",
        sources,
        access: &[Write, Read, Read, Read, Read, Read],
    }
}

const fn krylov(name: &'static str) -> Kernel {
    Kernel {
        name,
        sources: KRYLOV,
        access: KRYLOV_ACCESS,
    }
}

/// Entry points of the comparison solvers, in the order of [`crate::krylov::Stage`].
pub const COMPARISONS: [Kernel; 8] = [
    krylov("cg_start"),
    krylov("cg_multiply"),
    krylov("cg_move"),
    krylov("cg_turn"),
    krylov("pipe_start"),
    krylov("pipe_move"),
    krylov("chebyshev"),
    krylov("add_solution"),
];

/// A compiled kernel.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl Compiled {
    fn new(device: &wgpu::Device, kernel: &Kernel, dynamic: bool) -> Compiled {
        let buffer = |binding: usize, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty,
                has_dynamic_offset,
                min_binding_size: None,
            },
            count: None,
        };
        let mut entries = vec![buffer(0, wgpu::BufferBindingType::Uniform, dynamic)];
        for (k, access) in kernel.access.iter().enumerate() {
            let read_only = *access == Read;
            entries.push(buffer(
                k + 1,
                wgpu::BufferBindingType::Storage { read_only },
                false,
            ));
        }
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(kernel.name),
            entries: &entries,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(kernel.name),
            source: wgpu::ShaderSource::Wgsl(kernel.text().into()),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(kernel.name),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(kernel.name),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(kernel.name),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Every kernel writes workgroup memory before it reads it.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Compiled { pipeline, layout }
    }

    /// Binds a uniform (of `uniform_size` bytes) and storage buffers in the kernel's order.
    pub fn bind(
        &self,
        device: &wgpu::Device,
        uniform: &wgpu::Buffer,
        uniform_size: u64,
        buffers: &[&wgpu::Buffer],
    ) -> wgpu::BindGroup {
        let uniform = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: uniform,
            offset: 0,
            size: std::num::NonZeroU64::new(uniform_size),
        });
        let storage = buffers.iter().map(|buffer| buffer.as_entire_binding());
        let entries: Vec<wgpu::BindGroupEntry> = std::iter::once(uniform)
            .chain(storage)
            .zip(0..)
            .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.layout,
            entries: &entries,
        })
    }
}

/// All kernels of a step, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Pipelines {
    pub predict: Compiled,
    pub project: [Compiled; 2],
    pub patch_solve: [Compiled; 2],
    pub finish: Compiled,
    pub follow: Compiled,
    pub skin_samples: Compiled,
    pub upsample: Compiled,
}

impl Pipelines {
    pub fn new(device: &wgpu::Device) -> Pipelines {
        let compile = |kernel: &Kernel| Compiled::new(device, kernel, false);
        Pipelines {
            predict: compile(&PREDICT),
            project: PROJECT.each_ref().map(compile),
            patch_solve: PATCH_SOLVE.each_ref().map(compile),
            finish: compile(&FINISH),
            follow: compile(&FOLLOW),
            skin_samples: compile(&SKIN_SAMPLES),
            upsample: compile(&UPSAMPLE),
        }
    }
}

/// Kernels of a step with contact, compiled on first use.
#[derive(Clone, Debug)]
pub(crate) struct Touching([Compiled; 9]);

impl Touching {
    pub fn new(device: &wgpu::Device) -> Touching {
        let compile = |kernel: &Kernel| Compiled::new(device, kernel, false);
        Touching(CONTACT.each_ref().map(compile))
    }

    pub fn kernel(&self, which: Touch) -> &Compiled {
        &self.0[which as usize]
    }
}

/// The comparison solvers, compiled on first use; their uniform has a dynamic offset.
pub(crate) fn compile_comparisons(device: &wgpu::Device) -> Vec<Compiled> {
    COMPARISONS
        .iter()
        .map(|kernel| Compiled::new(device, kernel, true))
        .collect()
}

#[cfg(test)]
mod tests {
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    use super::*;

    /// Every kernel is valid WGSL without extensions, and within WebGPU's default limits.
    #[test]
    fn kernels_are_valid_and_small_enough() {
        let step = [&PREDICT, &FINISH, &FOLLOW, &SKIN_SAMPLES, &UPSAMPLE];
        let variants = PROJECT.iter().chain(&PATCH_SOLVE).chain(&COMPARISONS);
        let variants = variants.chain(&CONTACT);
        for kernel in step.into_iter().chain(variants) {
            let text = kernel.text();
            let module = naga::front::wgsl::parse_str(&text)
                .unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(&text)));
            let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
                .validate(&module)
                .unwrap_or_else(|error| panic!("{}: {error:?}", kernel.name));
            let (index, entry) = module
                .entry_points
                .iter()
                .enumerate()
                .find(|(_, entry)| entry.name == kernel.name)
                .unwrap_or_else(|| panic!("{} has no entry point", kernel.name));
            assert!(entry.workgroup_size.iter().product::<u32>() <= 256);
            let uses = info.get_entry_point(index);
            let used = |variable: naga::Handle<naga::GlobalVariable>| !uses[variable].is_empty();
            let memory: u32 = module
                .global_variables
                .iter()
                .filter(|(handle, v)| v.space == naga::AddressSpace::WorkGroup && used(*handle))
                .map(|(_, v)| module.types[v.ty].inner.size(module.to_ctx()))
                .sum();
            assert!(memory <= 16_384, "{}: {memory} bytes", kernel.name);
            assert!(kernel.access.len() <= 8, "{}", kernel.name);
            for (_, variable) in module.global_variables.iter() {
                let naga::AddressSpace::Storage { access } = variable.space else {
                    continue;
                };
                let binding = variable
                    .binding
                    .expect("a storage buffer has a binding")
                    .binding;
                let writes = access.contains(naga::StorageAccess::STORE);
                let declared = kernel.access[binding as usize - 1];
                assert_eq!(declared == Write, writes, "{} {binding}", kernel.name);
            }
        }
    }
}
