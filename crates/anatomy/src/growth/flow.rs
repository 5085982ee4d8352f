//! Growth in steps, each of which weighs what it should.

use glam::DVec3;
use supple_geom::normals::vertex_normals;
use supple_geom::{Adjacency, Surface, TriMesh};

use super::body::GrowthBody;
use super::goal::{goal, place, trunk_share, visceral_share};
use super::guard::Guard;
use super::layer_volumes::LayerVolumes;
use super::push_below_skin::push_below_skin;
use super::smoothing::{Filter, Smoother};
use super::tissue::{Tissue, TissueMesh};
use super::{FatGoal, Grown, Growth, GrowthError, GrowthReport, Method};
use super::{clearance, depots, growth_mask, pressure, wall};
use crate::clock::Clock;
use crate::composition::estimate::LIPIDS;
use crate::layers::Layers;
use crate::person::Masses;
use crate::person::carried::carried_directions;
use crate::person::masses::{FAT_DENSITY, MUSCLE_DENSITY};
use crate::person::transfer::{Transfer, warped};
use crate::template::LayeredBody;

/// Fat and muscle of one step \[kg\]. Larger steps let skin that was to meet cross first; smaller ones take longer and change
/// nothing.
const FAT_STEP: f64 = 2.0;
const MUSCLE_STEP: f64 = 1.0;
/// Further steps for what contact and prisms took back.
const MORE_STEPS: usize = 10;
/// How near to what was asked is near enough \[kg\], and relative.
const CLOSE: f64 = 0.02;
const CLOSE_SHARE: f64 = 0.003;
/// Length over which rates of growth \[m\] and directions are smoothed. Below 1 cm the thickness of single prisms shows, above
/// 4 cm the depots run into each other.
const RATE_SMOOTHING: f64 = 0.022;
const DIRECTION_SMOOTHING: f64 = 0.012;
/// Length over which skin spreads what the belly's wall does below it \[m\]. Shorter, large gains stand out below the ribs; above 10 cm
/// the breast comes with the belly.
const CARRY_SMOOTHING: f64 = 0.07;
/// Thickness of fat over which a balloon's share sets in \[m\]: what is thin goes in proportion to what there is. Above 3 cm bellies grow no
/// rounder.
const BALLOON_FAT: f64 = 0.012;
/// Length over which the trunk's share of growth fades into the limbs' \[m\].
const TRUNK_BORDER: f64 = 0.06;
/// How much faster trunk or limbs may grow than they would by themselves.
const REGION_FACTORS: [f64; 2] = [0.4, 2.5];
/// Least thickness of the fat layer that loss leaves \[m\], and the largest share of the rest that one step takes.
const LEAST_FAT: f64 = 1.5e-3;
const STEP_SHARE: f64 = 0.6;
/// Iterations that find how far a step goes.
const SECANTS: usize = 8;

/// A body that grows.
pub struct GrowthFlow<'a> {
    body: GrowthBody<'a>,
    mesh: TissueMesh,
    adjacency: Adjacency,
    moving: Vec<bool>,
    mask: Vec<f64>,
    /// How much of a vertex belongs to the trunk, and the trunk's share of growth under the skin; none for single regions.
    trunk: Option<(Vec<f64>, f64)>,
    rate_filter: Filter,
    direction_filter: Filter,
    /// Growth of a balloon, if the method needs it.
    balloon: Option<Vec<f64>>,
    /// Fat of the person to be like, as a rate.
    like: Option<Vec<f64>>,
    /// How far the belly's wall goes out, and the skin over it, for the same fat behind it.
    bulge: Vec<f64>,
    carried_bulge: Vec<f64>,
    method: Method,
    place: &'static str,
    visceral_share: f64,
    /// Whether the goal is a weight, which counts the skin, not only fat.
    is_weight: bool,
    /// Changes asked for \[kg\]: fat (or weight without muscle) and muscle.
    goal: [f64; 2],
    start: LayerVolumes,
    base: Tissue,
    tissue: Tissue,
    report: GrowthReport,
    clock: Clock,
}

/// What moves in one step, all by vertex.
struct Fields {
    skin_directions: Vec<DVec3>,
    muscle_directions: Vec<DVec3>,
    /// Rate of fat \[m\].
    fat: Vec<f64>,
    /// Thickness of the fat layer \[m\].
    thickness: Vec<f64>,
    /// Rate of muscle \[m\].
    muscle: Vec<f64>,
    /// How far the skin may go out \[m\].
    clearance: Vec<f64>,
}

/// How finely growth is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Contact and prisms are looked after.
    Full,
    /// They are not.
    None,
}

impl<'a> GrowthFlow<'a> {
    /// Prepares a growth.
    pub fn new(body: &GrowthBody<'a>, growth: &Growth) -> Result<Self, GrowthError> {
        let clock = Clock::start();
        let anatomy = body.anatomy;
        let layers = &anatomy.layers;
        if let Some(other) = growth.like
            && other.skin.len() != layers.skin.len()
        {
            return Err(GrowthError::OtherMesh {
                found: other.skin.len(),
                expected: layers.skin.len(),
            });
        }
        let goal = goal(body, growth)?;
        let mesh = TissueMesh::new(anatomy);
        let base = Tissue::of(anatomy);
        let moving = growth_mask::moving(anatomy);
        let smoother = Smoother::new(&layers.triangles, &base.skin, &moving);
        if smoother.free() == 0 {
            return Err(GrowthError::NoLayers);
        }
        let mask = growth_mask::growth_mask(anatomy, &smoother, &growth.regions)?;
        let rate_filter = smoother.bending(RATE_SMOOTHING)?;
        let direction_filter = smoother.bending(DIRECTION_SMOOTHING)?;
        let like = growth.like.map(|other| {
            let [skin, muscle] = [&other.skin, &other.muscle].map(|p| super::tissue::double(p));
            depots::rate(&depots::thickness(&mesh, &skin, &muscle))
        });
        let share = visceral_share(anatomy.sex(), growth);
        // Volume and pressure alone are the methods of [4.3.4] as they stand there.
        let as_people_do = growth.method == Method::Both && growth.regions.is_empty();
        let trunk = match as_people_do && growth.like.is_none() {
            true => {
                let trunk = growth_mask::trunk(anatomy, &smoother.diffusion(TRUNK_BORDER)?);
                Some((trunk, trunk_share(anatomy.sex(), share)))
            }
            false => None,
        };
        let bulge = wall::bulge(layers, &mesh, &base, &mask)?;
        let start = LayerVolumes::of(&mesh, &base);
        let mut flow = GrowthFlow {
            adjacency: Adjacency::of_triangles(layers.skin.len(), &layers.triangles),
            visceral_share: share,
            trunk,
            place: place(&growth.regions),
            is_weight: !matches!(growth.fat, FatGoal::Change(_)),
            method: growth.method,
            balloon: None,
            body: *body,
            report: GrowthReport::default(),
            tissue: base.clone(),
            mesh,
            moving,
            mask,
            rate_filter,
            direction_filter,
            like,
            carried_bulge: smoother.bending(CARRY_SMOOTHING)?.smooth(&bulge),
            bulge,
            goal,
            start,
            base,
            clock,
        };
        if flow.method != Method::Volume && goal[0] != 0.0 {
            let normals = flow.directions(&flow.base.skin);
            let balloon =
                pressure::balloon(layers, &flow.base.skin, &normals, &flow.moving, &flow.mask)?;
            flow.balloon = Some(balloon);
        }
        flow.record_time("preparing");
        Ok(flow)
    }

    fn record_time(&mut self, part: &'static str) {
        let seconds = self.clock.lap();
        match self
            .report
            .seconds
            .iter_mut()
            .find(|(name, _)| *name == part)
        {
            Some((_, sum)) => *sum += seconds,
            None => self.report.seconds.push((part, seconds)),
        }
    }

    /// Changes asked for \[kg\]: fat (weight without muscle, if a weight was asked for) and muscle.
    pub fn goal(&self) -> [f64; 2] {
        self.goal
    }

    /// The layers as they are.
    pub fn layers(&self) -> Layers {
        self.tissue.layers(&self.body.anatomy.layers)
    }

    /// Changes so far \[kg\]: fat (weight without muscle, if a weight was asked for) and muscle.
    pub fn change(&self) -> [f64; 2] {
        self.change_of(&LayerVolumes::of(&self.mesh, &self.tissue))
    }

    fn change_of(&self, now: &LayerVolumes) -> [f64; 2] {
        let masses = self.masses_of(now);
        let (before, after) = (self.start.fat_volume, now.fat_volume);
        let own = &self.body.masses;
        let fat = match self.is_weight {
            true => masses.fat_tissue(after) - own.fat_tissue(before) + masses.skin - own.skin,
            false => masses.fat(after) - own.fat(before),
        };
        [fat, masses.muscle(after) - self.body.masses.muscle(before)]
    }

    fn masses_of(&self, now: &LayerVolumes) -> Masses {
        now.masses(&self.start, &self.body.masses)
    }

    /// Goes on until a share of the goal is reached; 0 leads back to the start.
    pub fn advance(&mut self, share: f64) -> Result<(), GrowthError> {
        let wanted = self.goal.map(|g| g * share);
        let first = self.change();
        let left = |now: [f64; 2]| [wanted[0] - now[0], wanted[1] - now[1]];
        let [fat, muscle] = left(first);
        let steps = (fat.abs() / FAT_STEP)
            .max(muscle.abs() / MUSCLE_STEP)
            .ceil() as usize;
        let close = |k: usize| CLOSE.max(CLOSE_SHARE * self.goal[k].abs());
        let close = [close(0), close(1)];
        let anatomy = self.body.anatomy;
        let (triangles, layered) = (&anatomy.layers.triangles, &anatomy.layers.layered);
        let skin = surface(triangles, &self.base.skin);
        let mesh = self.mesh.clone();
        let adjacency = self.adjacency.clone();
        let guard = Guard::new(&mesh, triangles, layered, &self.moving, &adjacency, &skin);
        self.report.crossings[0] = guard.known();
        for step in 0..steps + MORE_STEPS {
            let rest = left(self.change());
            if rest[0].abs() <= close[0] && rest[1].abs() <= close[1] {
                break;
            }
            let parts = steps.saturating_sub(step).max(1) as f64;
            let before = self.tissue.clone();
            let next = self.step(&before, rest.map(|r| r / parts), Care::Full);
            let (guarded, behind) = guard.guarded(&before, &next);
            self.tissue = guarded;
            // What came back of the wall has its volume again.
            if behind > 0 {
                let lean = self.mesh.lean_volume(&next);
                let mesh = self.mesh.clone();
                mesh.settle_wall(&mut self.tissue, lean);
            }
            self.report.steps += 1;
            let moved = before.skin.iter().zip(&self.tissue.skin);
            if moved.clone().all(|(a, b)| a.distance(*b) < 1e-6) {
                break;
            }
        }
        self.record_time("steps");
        let got = self.change();
        for (k, what) in ["fat", "muscle"].into_iter().enumerate() {
            if (got[k] - wanted[k]).abs() > (0.02 * wanted[k].abs()).max(0.1) {
                return Err(GrowthError::Stalled {
                    what,
                    place: self.place,
                    asked: wanted[k],
                    got: got[k],
                });
            }
        }
        Ok(())
    }

    /// A coarse answer for a slider: a share of the goal from the start in one step, without looking after contact.
    pub fn coarse(&self, share: f64) -> Layers {
        let next = self.step(&self.base, self.goal.map(|g| g * share), Care::None);
        next.layers(&self.body.anatomy.layers)
    }

    /// Smoothed normals of a surface.
    fn directions(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mesh = TriMesh {
            positions: positions.iter().map(|p| p.as_vec3()).collect(),
            triangles: self.body.anatomy.layers.triangles.clone(),
        };
        let normals: Vec<DVec3> = (vertex_normals(&mesh).iter())
            .map(|n| n.as_dvec3())
            .collect();
        self.direction_filter.smooth_directions(&normals)
    }

    fn fields(&self, tissue: &Tissue, care: Care, goes_out: bool) -> Fields {
        let skin_directions = self.directions(&tissue.skin);
        let muscle_directions = self.directions(&tissue.muscle);
        let thickness = depots::thickness(&self.mesh, &tissue.skin, &tissue.muscle);
        let reached = |rate: Vec<f64>| -> Vec<f64> {
            let masked: Vec<f64> = rate.iter().zip(&self.mask).map(|(r, m)| r * m).collect();
            let smooth = self.rate_filter.smooth(&masked);
            smooth.iter().map(|r| r.max(0.0)).collect()
        };
        let own = || {
            self.like
                .clone()
                .unwrap_or_else(|| depots::rate(&thickness))
        };
        let fat = match (&self.balloon, self.method) {
            (Some(balloon), Method::Pressure) => reached(balloon.clone()),
            (Some(balloon), Method::Both) => {
                let own = own();
                let mean = self.mean(tissue, &own).max(1e-6);
                let both = (own.iter().zip(balloon).zip(&thickness)).map(|((o, b), t)| {
                    let there = 1.0 - (-(t - LEAST_FAT).max(0.0) / BALLOON_FAT).exp();
                    0.5 * (o / mean + b * there)
                });
                reached(both.collect())
            }
            _ => reached(own()),
        };
        let fat = self.shared(tissue, fat);
        let clearance = if care == Care::Full && goes_out {
            let skin = surface(&self.body.anatomy.layers.triangles, &tissue.skin);
            clearance::clearance(&skin, &skin_directions, &self.moving, &self.adjacency)
        } else {
            vec![f64::INFINITY; tissue.skin.len()]
        };
        Fields {
            muscle: reached(tissue.thickness.clone()),
            fat,
            skin_directions,
            muscle_directions,
            thickness,
            clearance,
        }
    }

    /// A rate with the trunk's share of growth that people have.
    fn shared(&self, tissue: &Tissue, mut rate: Vec<f64>) -> Vec<f64> {
        let Some((trunk, share)) = &self.trunk else {
            return rate;
        };
        let mut sums = [0.0; 2];
        for t in &self.mesh.triangles {
            let [a, b, c] = t.map(|v| tissue.skin[v as usize]);
            let area = (b - a).cross(c - a).length();
            for v in t.map(|v| v as usize) {
                sums[0] += area * rate[v] * trunk[v];
                sums[1] += area * rate[v] * (1.0 - trunk[v]);
            }
        }
        let all = sums[0] + sums[1];
        let [least, most] = REGION_FACTORS;
        let factor = |share: f64, sum: f64| (share * all / sum.max(1e-12)).clamp(least, most);
        let factors = [factor(*share, sums[0]), factor(1.0 - share, sums[1])];
        for (rate, trunk) in rate.iter_mut().zip(trunk) {
            *rate *= factors[1] + (factors[0] - factors[1]) * trunk;
        }
        rate
    }

    /// Mean of a rate over the skin that is reached.
    fn mean(&self, tissue: &Tissue, rate: &[f64]) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for t in &self.mesh.triangles {
            let [a, b, c] = t.map(|v| tissue.skin[v as usize]);
            let area = (b - a).cross(c - a).length();
            for v in t.map(|v| v as usize) {
                sum += area * self.mask[v] * rate[v];
                weight += area * self.mask[v];
            }
        }
        sum / weight.max(1e-12)
    }

    /// The tissue after one step that adds fat and muscle \[kg\].
    fn step(&self, tissue: &Tissue, [fat, muscle]: [f64; 2], care: Care) -> Tissue {
        let fields = self.fields(tissue, care, fat > 0.0 || muscle > 0.0);
        let lean = self.mesh.lean_volume(tissue);
        let before = LayerVolumes::of(&self.mesh, tissue);
        let visceral = self.masses_of(&before).places.visceral;
        let wanted = self.change_of(&before);
        let wanted = [wanted[0] + fat, wanted[1] + muscle];
        let added = if self.is_weight { fat } else { fat / LIPIDS };
        // The wall takes its share of fat, but has no more to give than there is.
        let behind = (added * self.visceral_share).max(-visceral.max(0.0)) / FAT_DENSITY;
        let out = root(0.0, 2e-3, |out| {
            let moved = self.with_wall(tissue, &fields, out, lean);
            self.mesh.cavity(&moved) - before.cavity - behind
        });
        let out = if behind == 0.0 { 0.0 } else { out };
        let wall = self.with_wall(tissue, &fields, out, lean);
        let strength = root(0.0, 0.02, |strength| {
            let moved = self.with_muscle(&wall, &fields, strength);
            self.mesh.lean_volume(&moved) - lean - muscle / MUSCLE_DENSITY
        });
        let strength = if muscle == 0.0 { 0.0 } else { strength };
        let inner = self.with_muscle(&wall, &fields, strength);
        let rate = self.mean(tissue, &fields.fat).max(1e-9);
        let guess = added / FAT_DENSITY / (self.mesh.skin_area(tissue) * rate);
        let scale = if guess.abs() > 1e-9 {
            guess
        } else {
            1e-3 / rate
        };
        let along = root(0.0, scale, |along| {
            let moved = self.with_skin(&inner, &fields, [out, strength, along]);
            self.change_of(&LayerVolumes::of(&self.mesh, &moved))[0] - wanted[0]
        });
        self.with_skin(&inner, &fields, [out, strength, along])
    }

    fn with_wall(&self, tissue: &Tissue, fields: &Fields, out: f64, lean: f64) -> Tissue {
        let mut moved = tissue.clone();
        if out != 0.0 {
            for v in (0..moved.muscle.len()).filter(|&v| self.bulge[v] > 0.0) {
                moved.muscle[v] += out * self.bulge[v] * fields.muscle_directions[v];
            }
            self.mesh.settle_wall(&mut moved, lean);
        }
        moved
    }

    fn with_muscle(&self, wall: &Tissue, fields: &Fields, strength: f64) -> Tissue {
        let mut moved = wall.clone();
        for v in (0..moved.muscle.len()).filter(|&v| self.moving[v]) {
            moved.muscle[v] += strength * fields.muscle[v] * fields.muscle_directions[v];
            moved.thickness[v] += strength * fields.muscle[v];
        }
        moved
    }

    fn with_skin(
        &self,
        inner: &Tissue,
        fields: &Fields,
        [out, strength, along]: [f64; 3],
    ) -> Tissue {
        let mut moved = inner.clone();
        let mut is_pressed = false;
        for v in (0..moved.skin.len()).filter(|&v| self.moving[v]) {
            let carried = out * self.carried_bulge[v] + strength * fields.muscle[v];
            let thinner = STEP_SHARE * (fields.thickness[v] - LEAST_FAT).max(0.0);
            let wanted = along * fields.fat[v];
            let own = wanted.max(-thinner);
            let mut way = (carried + own).min(fields.clearance[v]);
            // Where a belly's fat is used up, as below the navel, skin takes the wall along: it would stand out as a knob.
            if own > wanted && self.bulge[v] > 0.0 {
                let pressed = self.bulge[v].min(0.5) * 2.0 * (wanted - own);
                way += pressed;
                moved.muscle[v] += pressed * fields.muscle_directions[v];
                is_pressed = true;
            }
            moved.skin[v] += way * fields.skin_directions[v];
        }
        if is_pressed {
            let lean = self.mesh.lean_volume(inner);
            self.mesh.settle_wall(&mut moved, lean);
        }
        moved
    }

    /// The anatomy as it is now, with muscles carried along.
    pub fn finish(mut self) -> Result<Grown, GrowthError> {
        self.clock = Clock::start();
        let now = LayerVolumes::of(&self.mesh, &self.tissue);
        let masses = self.masses_of(&now);
        let before = self.body.anatomy;
        let layers = self.layers();
        let mut anatomy = LayeredBody {
            layers,
            thickness: self.tissue.thickness.iter().map(|t| *t as f32).collect(),
            ..before.clone()
        };
        anatomy.body.mesh.positions = anatomy.layers.skin.clone();
        if anatomy.layers.muscle != before.layers.muscle && !before.muscles.is_empty() {
            let warp = Transfer::new(&before.layers)?.person(&anatomy.layers);
            for muscle in &mut anatomy.muscles {
                let moved = warped(&muscle.mesh, &warp.muscles);
                muscle.fibres = carried_directions(&muscle.mesh, &moved.positions, &muscle.fibres);
                muscle.mesh = moved;
                muscle.volume = muscle.mesh.signed_volume();
            }
        }
        let skin = Surface::new(anatomy.layers.skin_mesh());
        for muscle in &mut anatomy.muscles {
            if push_below_skin(&mut muscle.mesh, &skin) > 0 {
                muscle.volume = muscle.mesh.signed_volume();
            }
        }
        self.record_time("muscles");
        let (start, own) = (&self.start, &self.body.masses);
        let report = &mut self.report;
        report.fat = [own.fat(start.fat_volume), masses.fat(now.fat_volume)];
        report.muscle = [own.muscle(start.fat_volume), masses.muscle(now.fat_volume)];
        report.visceral = [own.places.visceral, masses.places.visceral];
        let tissue = masses.fat_tissue(now.fat_volume) - own.fat_tissue(start.fat_volume);
        let gained = tissue + report.muscle[1] - report.muscle[0] + masses.skin - own.skin;
        report.weight = [self.body.weight, self.body.weight + gained];
        let height = self.body.height();
        report.body_mass_index = report.weight.map(|w| w / (height * height));
        report.layers = anatomy.layers.measures();
        let skin = surface(&anatomy.layers.triangles, &self.tissue.skin);
        report.crossings[1] = skin.crossings(|_| true).len();
        let all = surface(&anatomy.layers.triangles, &self.base.skin);
        report.crossings[0] = all.crossings(|_| true).len();
        let got = self.change();
        self.report.asked = [self.goal[0], got[0]];
        self.report.asked_muscle = [self.goal[1], got[1]];
        self.record_time("measuring");
        Ok(Grown {
            anatomy,
            masses,
            report: self.report,
        })
    }
}

fn surface(triangles: &[[u32; 3]], positions: &[DVec3]) -> Surface {
    Surface::new(TriMesh {
        positions: positions.iter().map(|p| p.as_vec3()).collect(),
        triangles: triangles.to_vec(),
    })
}

/// A root of a monotone function near 0 by secants.
fn root(mut a: f64, mut b: f64, mut function: impl FnMut(f64) -> f64) -> f64 {
    let mut fa = function(a);
    if fa == 0.0 {
        return a;
    }
    let mut fb = function(b);
    for _ in 0..SECANTS {
        if fb.abs() < 1e-9 || fa == fb {
            break;
        }
        // No further than three times what is known: where everything has stopped there is no root.
        let reach = 3.0 * (b - a).abs();
        let next = (b - fb * (b - a) / (fb - fa)).clamp(b - reach, b + reach);
        (a, fa) = (b, fb);
        (b, fb) = (next, function(next));
    }
    b
}
