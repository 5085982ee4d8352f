//! Iterative global solvers, for comparison with the patch solve: `supple bench --backend gpu --solver …`.

use bytemuck::{Pod, Zeroable};
use supple_geom::sparse::Csc;

use crate::buffers::buffer;
use crate::kernels::{Compiled, compile_comparisons};
use crate::{Gpu, GpuError};

/// Iterations of each global solve, as in the papers [3.2.3].
pub const INNER: u32 = 10;
/// Ratio of eigenvalues that the Chebyshev iteration is tuned to. Ten iterations cannot cover a larger range; with a smaller one
/// the smooth part of the error remains.
const CHEBYSHEV_RANGE: f64 = 40.0;
const GROUP: u32 = 128;
const SLICE: usize = 32;
/// Stride of uniform blocks: WebGPU's default alignment.
const UNIFORM_STRIDE: u64 = 256;

/// An iterative solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Preconditioned conjugate gradients, as in the papers: three dispatches per iteration.
    Pcg,
    /// Pipelined conjugate gradients: one dispatch per iteration.
    PipelinedCg,
    /// Chebyshev iteration: one dispatch per iteration, no dot products.
    Chebyshev,
}

/// Entry points, in the order of [`crate::kernels::COMPARISONS`].
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// r, z = D⁻¹ r, p = z.
    Start,
    /// q = A p.
    Multiply,
    /// x += α p, r −= α q.
    Move,
    /// p = z + β p.
    Turn,
    /// w = A u.
    PipeStart,
    /// One pipelined iteration.
    PipeMove,
    /// One Chebyshev iteration.
    Chebyshev,
    /// Adds the solution to the positions.
    Add,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Params {
    rows: u32,
    vertices: u32,
    it: u32,
    last: u32,
    keep: f32,
    add: f32,
    pad: [u32; 2],
}

/// One of the solvers on the device.
#[derive(Debug)]
pub(crate) struct Krylov {
    method: Method,
    compiled: Vec<Compiled>,
    binds: Vec<wgpu::BindGroup>,
    groups: u32,
    pub bytes: u64,
}

impl Krylov {
    pub fn new(
        gpu: &Gpu,
        method: Method,
        matrix: &Csc,
        vertices: u32,
        bodies: u32,
        residual: &wgpu::Buffer,
        positions: &wgpu::Buffer,
    ) -> Result<Krylov, GpuError> {
        let compiled = compile_comparisons(&gpu.device);
        let rows = matrix.width() as u32;
        let groups = rows.div_ceil(GROUP);
        let sliced = Sliced::new(matrix);
        let storage = wgpu::BufferUsages::STORAGE;
        let vector = 16 * u64::from(rows) * u64::from(bodies);
        let sums = 16 * u64::from(4 * groups + 64) * u64::from(bodies);
        let tables = [
            buffer(
                gpu,
                "slices",
                bytemuck::cast_slice(&sliced.slices),
                0,
                storage,
            )?,
            buffer(
                gpu,
                "entries",
                bytemuck::cast_slice(&sliced.entries),
                0,
                storage,
            )?,
            buffer(
                gpu,
                "diagonal",
                bytemuck::cast_slice(&sliced.inverse_diagonal),
                0,
                storage,
            )?,
            buffer(gpu, "vectors", &[], 6 * vector, storage)?,
            buffer(gpu, "gathered vectors", &[], 2 * vector, storage)?,
            buffer(gpu, "partial sums", &[], sums, storage)?,
        ];
        let uniform = buffer(
            gpu,
            "solver parameters",
            &parameters(rows, vertices, &sliced),
            0,
            wgpu::BufferUsages::UNIFORM,
        )?;
        let mut list: Vec<&wgpu::Buffer> = tables.iter().collect();
        list.extend([residual, positions]);
        let bind = |kernel: &Compiled| {
            kernel.bind(&gpu.device, &uniform, size_of::<Params>() as u64, &list)
        };
        Ok(Krylov {
            method,
            binds: compiled.iter().map(bind).collect(),
            compiled,
            groups,
            bytes: tables.iter().map(wgpu::Buffer::size).sum(),
        })
    }

    /// (stage, iteration) of every dispatch of one global solve.
    pub fn plan(&self) -> Vec<(Stage, u32)> {
        let mut plan = match self.method {
            Method::Pcg => vec![(Stage::Start, 0)],
            Method::PipelinedCg => vec![(Stage::Start, 0), (Stage::PipeStart, 0)],
            Method::Chebyshev => Vec::new(),
        };
        for it in 0..INNER {
            match self.method {
                Method::Pcg => {
                    plan.extend([(Stage::Multiply, it), (Stage::Move, it), (Stage::Turn, it)]);
                }
                Method::PipelinedCg => plan.push((Stage::PipeMove, it)),
                Method::Chebyshev => plan.push((Stage::Chebyshev, it)),
            }
        }
        plan.push((Stage::Add, 0));
        plan
    }

    /// One dispatch.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass, stage: Stage, it: u32, bodies: u32) {
        let offset = it * UNIFORM_STRIDE as u32;
        pass.set_pipeline(&self.compiled[stage as usize].pipeline);
        pass.set_bind_group(0, &self.binds[stage as usize], &[offset]);
        pass.dispatch_workgroups(self.groups, bodies, 1);
    }
}

/// Uniform blocks of all iterations.
fn parameters(rows: u32, vertices: u32, sliced: &Sliced) -> Vec<u8> {
    let mut bytes = vec![0; UNIFORM_STRIDE as usize * INNER as usize];
    let factors = chebyshev_factors(sliced.largest_eigenvalue);
    for (it, (keep, add)) in factors.into_iter().enumerate() {
        let params = Params {
            rows,
            vertices,
            it: it as u32,
            last: INNER - 1,
            keep: keep as f32,
            add: add as f32,
            pad: [0; 2],
        };
        let at = it * UNIFORM_STRIDE as usize;
        bytes[at..at + size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&params));
    }
    bytes
}

/// (keep, add) of d = keep·d + add·D⁻¹r, x += d, for eigenvalues up to `largest`.
fn chebyshev_factors(largest: f64) -> Vec<(f64, f64)> {
    let smallest = largest / CHEBYSHEV_RANGE;
    let (middle, half) = (0.5 * (largest + smallest), 0.5 * (largest - smallest));
    let sigma = middle / half;
    let mut rho = 1.0 / sigma;
    let mut factors = vec![(0.0, 1.0 / middle)];
    for _ in 1..INNER {
        let next = 1.0 / (2.0 * sigma - rho);
        factors.push((next * rho, 2.0 * next / half));
        rho = next;
    }
    factors
}

/// Sliced ELLPACK.
struct Sliced {
    slices: Vec<u32>,
    entries: Vec<[u32; 2]>,
    inverse_diagonal: Vec<f32>,
    /// Of D⁻¹ A.
    largest_eigenvalue: f64,
}

impl Sliced {
    fn new(matrix: &Csc) -> Sliced {
        let n = matrix.width();
        let mut sliced = Sliced {
            slices: vec![0],
            entries: Vec::new(),
            inverse_diagonal: (0..n).map(|i| (1.0 / matrix.at(i, i)) as f32).collect(),
            largest_eigenvalue: largest_eigenvalue(matrix),
        };
        for first in (0..n).step_by(SLICE) {
            let rows: Vec<Vec<(usize, f64)>> = (first..(first + SLICE).min(n))
                .map(|i| matrix.column(i).collect())
                .collect();
            let width = rows
                .iter()
                .map(Vec::len)
                .max()
                .unwrap_or(0)
                .next_multiple_of(4);
            for k in 0..width {
                for lane in 0..SLICE {
                    let entry = rows.get(lane).and_then(|row| row.get(k));
                    sliced.entries.push(match entry {
                        Some(&(column, value)) => [column as u32, (value as f32).to_bits()],
                        None => [first as u32, 0],
                    });
                }
            }
            sliced.slices.push(sliced.entries.len() as u32);
        }
        sliced
    }
}

/// Power iteration, with a margin because it converges from below.
fn largest_eigenvalue(matrix: &Csc) -> f64 {
    let n = matrix.width();
    let mut v: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64 * 1.7).sin()).collect();
    let mut eigenvalue = 1.0;
    for _ in 0..40 {
        let product = matrix.multiply(&v).into_iter().enumerate();
        let next: Vec<f64> = product.map(|(i, x)| x / matrix.at(i, i)).collect();
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        eigenvalue = norm(&next) / norm(&v).max(1e-300);
        let scale = 1.0 / norm(&next).max(1e-300);
        v = next.iter().map(|x| x * scale).collect();
    }
    1.05 * eigenvalue
}
