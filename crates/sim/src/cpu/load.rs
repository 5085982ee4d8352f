//! Start of a step in the rows of a region: inertial prediction, external forces and initial guess, eight rows at a time.

// Plain loops: iterator adaptors are not always inlined, and code outside the kernel loses its instruction set.
#![allow(clippy::needless_range_loop)]

use glam::Vec3;
use supple_geom::simd::{Kernel, LANES, Lanes, Row, dispatch};

use crate::inertia::{largest_relative_motion, saturated_lanes};
use crate::start::{Carried, Eight, plus, read, times};
use crate::{Mode, Model, Settings, State, Targets};

/// Input and rows of a region.
pub struct Load<'a> {
    pub model: &'a Model,
    pub settings: &'a Settings,
    pub targets: &'a Targets,
    pub state: &'a State,
    /// Vertex of each free row.
    pub vertices: &'a [u32],
    /// Mass of each free row \[kg\].
    pub masses: &'a [f32],
    /// Wave speed of each free row \[m/s\].
    pub speeds: &'a [f32],
    /// Factor of the forces.
    pub scale: f32,
    /// Receives the initial guess of every free row \[m\].
    pub x: &'a mut [Row],
    /// Receives the [bounded](crate::inertia) prediction of the first rows, as many as there are \[m\].
    pub inertial: &'a mut [Row],
    /// Receives the scaled gravity and external force of the same rows.
    pub external: &'a mut [Row],
}

/// Fills the rows.
pub fn load(rows: Load) {
    dispatch(rows);
}

impl Kernel for Load<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (settings, state, targets) = (self.settings, self.state, self.targets);
        let h = match settings.mode {
            Mode::Dynamic => settings.step as f32,
            Mode::Static => 0.0,
        };
        let most = largest_relative_motion(settings);
        for (chunk, vertices) in self.vertices.chunks(LANES).enumerate() {
            let eight = Eight::new(self.model, vertices);
            let own = times(read::<L>(&state.velocities, &eight.ids), L::splat(h));
            let positions = read::<L>(&state.positions, &eight.ids);
            let inertial = plus(positions, own);
            let carried = match eight.is_carried == [false; LANES] {
                // There may be no fixed vertex at all.
                true => Carried {
                    rigid: inertial,
                    moving: inertial,
                },
                false => Carried::new(&eight, state, targets, positions, own, h),
            };
            let mut bounds = [f64::INFINITY; LANES];
            for lane in 0..LANES {
                if eight.is_carried[lane] {
                    bounds[lane] = most * f64::from(self.speeds[chunk * LANES + lane]);
                }
            }
            let ([a, b, c], [d, e, f]) = (inertial, carried.rigid);
            let inertial = saturated_lanes(
                &[a.store(), b.store(), c.store()],
                &[d.store(), e.store(), f.store()],
                &bounds,
            );
            let [a, b, c] = &inertial;
            let inertial = L::rows([L::load(a), L::load(b), L::load(c)]);
            let moving = L::rows(carried.moving);
            for lane in 0..vertices.len() {
                let (row, v) = (chunk * LANES + lane, eight.ids[lane]);
                let mass = self.masses[row];
                let external = targets.forces.get(v).copied().unwrap_or(Vec3::ZERO);
                let force = settings.gravity * mass + external;
                if row < self.inertial.len() {
                    self.inertial[row] = inertial[lane];
                    self.external[row] = Row::new((force * self.scale).to_array());
                }
                self.x[row] = match eight.is_carried[lane] {
                    true => moving[lane],
                    false if mass > 0.0 => {
                        let push = force * (h * h / mass);
                        inertial[lane] + Row::new(push.to_array())
                    }
                    false => inertial[lane],
                };
            }
        }
    }
}
