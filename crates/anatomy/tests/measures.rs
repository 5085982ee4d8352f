//! Measures of the embedded bodies, and of bodies made from them by maps whose effect is known.

use std::f64::consts::PI;
use std::path::Path;

use glam::Vec3;
use supple_anatomy::composition::tape::tape_around;
use supple_anatomy::composition::{Known, Regressors, Tape, composition};
use supple_anatomy::{Body, Sex};
use supple_geom::section::{Plane, section};
use supple_geom::{Adjacency, shapes};

fn body(sex: Sex) -> (Body, Vec<Vec3>) {
    let name = if sex == Sex::Male { "male" } else { "female" };
    let path = format!("../supple/assets/{name}.glb");
    let character = supple_rig::formats::load(Path::new(&path), &Default::default()).unwrap();
    let body = Body::from_character(&character, sex).unwrap();
    let worlds = body.skeleton.rest_worlds();
    let joints = worlds.iter().map(|w| w.translation.into()).collect();
    (body, joints)
}

#[test]
fn a_tape_around_a_cylinder_is_its_circumference_at_any_angle() {
    let mesh = shapes::capped_tube(0.1, 1.0, 180, 4);
    let adjacency = Adjacency::new(&mesh);
    for tilt in [0.0_f64, 0.4] {
        let normal = Vec3::new(tilt.sin() as f32, tilt.cos() as f32, 0.0);
        let cut = section(
            &mesh,
            &adjacency,
            Plane {
                point: Vec3::ZERO,
                normal,
            },
        );
        // Ramanujan's perimeter of the ellipse that an oblique plane cuts.
        let (a, b) = (0.1 / tilt.cos(), 0.1);
        let exact = PI * (3.0 * (a + b) - ((3.0 * a + b) * (a + 3.0 * b)).sqrt());
        let found = tape_around(&cut, Vec3::ZERO);
        assert!((found / exact - 1.0).abs() < 1e-3, "{found} {exact}");
    }
}

#[test]
fn embedded_bodies_measure_like_people() {
    for (sex, height, waist, hip) in [(Sex::Male, 1.8, 0.87, 1.0), (Sex::Female, 1.68, 0.74, 0.99)]
    {
        let (body, joints) = body(sex);
        let m = Tape::new(&body)
            .unwrap()
            .measures(&body.mesh.positions, &joints);
        assert!((m.height - height).abs() < 0.05, "{m:?}");
        assert!(
            (m.waist - waist).abs() < 0.07 && (m.hip - hip).abs() < 0.07,
            "{m:?}"
        );
        assert!(
            m.neck < m.thigh && m.thigh < m.waist && m.waist < m.hip,
            "{m:?}"
        );
        assert!(m.wrist < m.forearm && m.forearm < m.upper_arm, "{m:?}");
        assert!(m.ankle < m.calf && m.calf < m.thigh, "{m:?}");
        assert!((m.volume - body.mesh.signed_volume()).abs() < 1e-9);
        let c = composition(&m, &Known::sex(sex), Regressors::embedded()).unwrap();
        assert!((18.0..27.0).contains(&c.body_mass_index), "{c:?}");
        assert!(c.fat_mass.value + c.muscle_mass.value < c.weight.value);
    }
}

#[test]
fn measures_follow_scaling_and_widening() {
    let (body, joints) = body(Sex::Male);
    let tape = Tape::new(&body).unwrap();
    let measured = |scale: Vec3| {
        let moved = |points: &[Vec3]| points.iter().map(|p| *p * scale).collect::<Vec<_>>();
        tape.measures(&moved(&body.mesh.positions), &moved(&joints))
    };
    let (usual, larger) = (measured(Vec3::ONE), measured(Vec3::splat(1.1)));
    let pairs = [
        (usual.waist, larger.waist),
        (usual.calf, larger.calf),
        (usual.neck, larger.neck),
        (usual.segments.thigh, larger.segments.thigh),
    ];
    for (a, b) in pairs {
        assert!((b / a - 1.1).abs() < 1e-3, "{a} {b}");
    }
    assert!((larger.volume / usual.volume - 1.331).abs() < 1e-4);
    // Wider across and deeper, but no taller: girths in level planes grow alike.
    let wider = measured(Vec3::new(1.2, 1.0, 1.2));
    assert!((wider.waist / usual.waist - 1.2).abs() < 1e-3);
    assert!((wider.thigh / usual.thigh - 1.2).abs() < 1e-3);
    assert_eq!(wider.height, usual.height);
}
