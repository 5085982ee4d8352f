//! A hand pushed 5 cm into the belly: both give way without penetration, and return to rest when the hand is removed.

mod common;

use common::touch::{self, Painter, Shot};
use supple::embedded::{Body, body};
use supple::flesh::settings::ContactMode;
use supple::geom::Surface;
use supple::glam::{Vec3, vec3};
use supple::rig::ik::{Limb, reach};
use supple::tissue::SoftBody;
use supple::{Character, Pose};

/// The arm in front of the belly, palm towards it.
const BEFORE: &str = "
title = \"Arm in front of the belly\"
[[key]]
time = 0.0
leftUpperArm = [40, -15, -75]
leftLowerArm = [0, -80, 0]
rightUpperArm = [0, 0, 65]
";
/// Depth to which the hand is pushed [m].
const DEPTH: f32 = 0.05;
/// Distance of the hand before it touches [m].
const AWAY: f32 = 0.10;
/// The same for a blow [m].
const BLOW: f32 = 0.15;
const STEP: f64 = 1.0 / 60.0;
const SIZE: (usize, usize) = (300, 320);

fn main() {
    let character = body(Body::Male).unwrap();
    let flesh = touch::touching(&character, ContactMode::Global);
    let mut hand = Hand::new(&character, &flesh.skin_mesh().clone());
    let mut off = SoftBody::from_flesh(touch::without(&flesh)).unwrap();
    hand.find_depth(&mut off);

    let mut soft = SoftBody::from_flesh(flesh).unwrap();
    soft.place(&hand.pose(-AWAY)).unwrap();
    let before = Shot::of(&soft);
    // In for half a second, held for half a second.
    for step in 1..=60 {
        let way = (f64::from(step) * STEP / 0.5).min(1.0) as f32;
        let depth = -AWAY + (AWAY + DEPTH) * way * way * (3.0 - 2.0 * way);
        soft.advance(&hand.pose(depth), STEP).unwrap();
    }
    let (pressed, inside) = (Shot::of(&soft), soft.penetration().unwrap());
    off.place(&hand.pose(DEPTH)).unwrap();
    let (through, deep) = (Shot::of(&off), off.penetration().unwrap());
    // Out in half a second, then a second to come to rest.
    for step in 1..=90 {
        let way = (f64::from(step) * STEP / 0.5).min(1.0) as f32;
        let depth = DEPTH - (AWAY + DEPTH) * way * way * (3.0 - 2.0 * way);
        soft.advance(&hand.pose(depth), STEP).unwrap();
    }
    let after = Shot::of(&soft);

    // The same as a blow in a single step, at more than 10 m/s, then held as long.
    let mut struck = SoftBody::from_flesh(soft.flesh().clone()).unwrap();
    struck.place(&hand.pose(-BLOW)).unwrap();
    for _ in 0..60 {
        struck.advance(&hand.pose(DEPTH), STEP).unwrap();
    }
    let (blow, stuck) = (Shot::of(&struck), struck.penetration().unwrap());
    let pairs = blow.simulated.iter().zip(&pressed.simulated);
    let square = pairs.map(|(a, b)| a.distance_squared(*b)).sum::<f32>();
    let differs = (square / blow.simulated.len() as f32).sqrt();
    println!(
        "blow in one step: {:.1} mm RMS from the result of a slow push, {} points inside, at most {:.1} mm deep",
        1e3 * differs,
        stuck.count(),
        1e3 * stuck.worst()
    );

    let [was, now] = [&before, &pressed].map(|shot| &shot.simulated);
    let dent = (0..was.len())
        .filter(|&v| was[v].distance(hand.belly) < 0.12)
        .map(|v| was[v].z - now[v].z)
        .fold(0.0, f32::max);
    // Points inside the belly that do not belong to it.
    let is_hand = |v: &usize| through.simulated[*v].distance(was[*v]) > 0.05;
    let gave = (deep.points.iter().map(|&v| v as usize))
        .filter(is_hand)
        .map(|v| now[v].distance(through.simulated[v]))
        .fold(0.0, f32::max);
    // Measured on the belly: a thumb crushed between hand and belly may stay caught on its neighbour.
    let left = (0..was.len())
        .filter(|&v| was[v].distance(hand.belly) < 0.15)
        .map(|v| was[v].distance(after.simulated[v]))
        .fold(0.0, f32::max);
    println!(
        "inside without contact: {} points, at most {:.1} mm deep; with contact: {}, at most {:.1} mm",
        deep.count(),
        1e3 * deep.worst(),
        inside.count(),
        1e3 * inside.worst()
    );
    println!(
        "the belly gives way by {:.1} mm, the hand by {:.1} mm; {:.2} mm from rest a second later",
        1e3 * dent,
        1e3 * gave,
        1e3 * left
    );

    let reach = 0.24;
    let corners = [hand.belly - reach, hand.belly + reach];
    let camera = common::view_in(SIZE, &corners, vec3(1.0, 0.35, 0.35));
    let painter = Painter::new(&character, soft.flesh());
    let tiles = [
        (painter.marked(&before, &[]), "the hand comes".to_owned()),
        (
            painter.marked(&through, &deep.points),
            format!("without contact: {:.0} mm inside", 1e3 * deep.worst()),
        ),
        (
            painter.moved(&pressed, &through, 0.05),
            format!(
                "with contact: dent {:.0} mm, {:.1} mm inside",
                1e3 * dent,
                1e3 * inside.worst()
            ),
        ),
        (
            painter.moved(&after, &before, 0.05),
            format!("out again: {:.1} mm are left", 1e3 * left),
        ),
    ]
    .map(|(meshes, caption)| (common::tile_in(SIZE, meshes, vec![], &camera), caption));
    common::save(
        "hand_in_belly",
        &common::sheet("A hand 5 cm into the belly", &tiles, 4),
    );
    assert!(deep.worst() > 0.9 * DEPTH, "the hand is not pushed in");
    assert!(
        inside.worst() < 0.3 * deep.worst(),
        "{} m inside",
        inside.worst()
    );
    assert!(inside.count() * 10 < deep.count(), "{}", inside.count());
    assert!(dent > 0.015, "the belly hardly gives way: {dent} m");
    assert!(gave > 0.003, "the hand hardly gives way: {gave} m");
    assert!(
        stuck.count() * 10 < deep.count() && stuck.worst() < 0.3 * deep.worst(),
        "a blow goes through: {} points, {} m",
        stuck.count(),
        stuck.worst()
    );
    assert!(differs < 0.003, "a blow ends {differs} m from a push");
    assert!(left < 0.003, "the belly does not return to rest: {left} m");
}

/// Poses with the left hand at a given depth in the belly.
struct Hand<'a> {
    character: &'a Character,
    limb: Limb,
    /// The contact point on the belly [m].
    belly: Vec3,
    /// Height of the wrist above the belly where the hand touches [m].
    touching: f32,
}

impl<'a> Hand<'a> {
    fn new(character: &'a Character, skin: &supple::geom::TriMesh) -> Self {
        let worlds = character.skeleton.rest_worlds();
        let joint = |name| character.skeleton.find(name).unwrap();
        let place = |name| Vec3::from(worlds[joint(name)].translation);
        let height = place("root").lerp(place("neck01"), 0.28).y;
        let ray = supple::geom::surface::Ray {
            origin: vec3(0.0, height, 2.0),
            direction: Vec3::NEG_Z,
        };
        let hit = Surface::new(skin.clone()).first_hit(ray, 4.0).unwrap();
        Self {
            character,
            limb: Limb::of(character, joint("wrist.L")),
            belly: vec3(0.0, height, 2.0 - hit.t),
            touching: 0.05,
        }
    }

    fn pose(&self, depth: f32) -> Pose {
        let mut pose = touch::keyed(self.character, BEFORE).sample(&self.character.skeleton, 0.0);
        let wrist = self.belly + vec3(0.09, 0.0, self.touching - depth);
        reach(&self.character.skeleton, &mut pose, &self.limb, wrist);
        pose
    }

    /// Finds the wrist's height at which the hand is [`DEPTH`] deep without contact.
    fn find_depth(&mut self, off: &mut SoftBody) {
        let (mut low, mut high) = (-0.05, 0.15);
        for _ in 0..7 {
            self.touching = 0.5 * (low + high);
            off.place(&self.pose(DEPTH)).unwrap();
            match off.penetration().unwrap().worst() > DEPTH {
                true => low = self.touching,
                false => high = self.touching,
            }
        }
    }
}
