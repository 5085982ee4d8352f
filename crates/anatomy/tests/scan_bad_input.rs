//! Anything but a standing person is rejected in one line; what can be mended is mended.

use glam::{Affine3A, Mat3, Vec3};
use supple_anatomy::Sex;
use supple_anatomy::body_model::{BodyModel, Figure};
use supple_anatomy::scan::{Options, Registered, Scan, ScanError, register};
use supple_geom::{TriMesh, shapes};

/// The mean man as a mesh.
fn man() -> TriMesh {
    let model = BodyModel::embedded(Sex::Male);
    model.mesh(&Figure::mean(model).vertices(model))
}

fn scan(mesh: TriMesh) -> Scan {
    Scan {
        points: mesh.positions,
        triangles: mesh.triangles,
        ..Scan::default()
    }
}

fn try_register(mesh: TriMesh) -> Result<Registered, ScanError> {
    let options = Options {
        sex: Some(Sex::Male),
        ..Options::default()
    };
    register(&scan(mesh), &options)
}

/// The reason, in one line.
fn refusal(mesh: TriMesh) -> String {
    match try_register(mesh) {
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains('\n'));
            println!("{text}");
            text
        }
        Ok(found) => panic!(
            "registered: {:?}, {:?}, {:?}",
            found.distances, found.coverage, found.warnings
        ),
    }
}

fn kept(mesh: &TriMesh, wanted: impl Fn(Vec3) -> bool) -> TriMesh {
    let inside = |t: &[u32; 3]| t.iter().all(|&v| wanted(mesh.positions[v as usize]));
    TriMesh {
        positions: mesh.positions.clone(),
        triangles: mesh.triangles.iter().copied().filter(inside).collect(),
    }
}

fn moved(mut mesh: TriMesh, by: Affine3A) -> TriMesh {
    mesh.transform(&by);
    mesh
}

fn box_at(size: Vec3, at: Vec3) -> TriMesh {
    moved(shapes::cuboid(size, 6), Affine3A::from_translation(at))
}

fn with(mut mesh: TriMesh, others: &[TriMesh]) -> TriMesh {
    others.iter().for_each(|other| mesh.append(other));
    mesh
}

#[test]
fn halves_are_refused() {
    refusal(kept(&man(), |p| p.y > 0.95));
    refusal(kept(&man(), |p| p.y < 0.95));
    refusal(kept(&man(), |p| p.x > 0.0));
    refusal(kept(&man(), |p| p.z < 0.02));
}

#[test]
fn two_people_are_refused() {
    let second = moved(man(), Affine3A::from_translation(Vec3::new(1.3, 0.0, 0.1)));
    let text = refusal(with(man(), &[second]));
    assert!(
        text.contains("more than one") || text.contains("not a standing person"),
        "{text}"
    );
}

#[test]
fn a_chair_that_touches_the_body_is_refused() {
    let mut pieces = vec![
        box_at(Vec3::new(0.45, 0.05, 0.45), Vec3::new(0.0, 0.45, -0.34)),
        box_at(Vec3::new(0.45, 0.5, 0.05), Vec3::new(0.0, 0.7, -0.54)),
    ];
    for (x, z) in [(-0.2, -0.14), (0.2, -0.14), (-0.2, -0.54), (0.2, -0.54)] {
        pieces.push(box_at(Vec3::new(0.05, 0.45, 0.05), Vec3::new(x, 0.22, z)));
    }
    refusal(with(man(), &pieces));
}

#[test]
fn a_statue_without_arms_is_refused() {
    let model = BodyModel::embedded(Sex::Male);
    let arm = |v: u32| {
        let name = &model.joint_names[model.main_joint(v as usize)];
        ["upperarm", "lowerarm", "wrist", "finger", "metacarpal"]
            .iter()
            .any(|p| name.starts_with(p))
    };
    let mut mesh = man();
    mesh.triangles.retain(|t| !t.iter().all(|&v| arm(v)));
    let text = refusal(mesh);
    assert!(text.contains("arm"), "{text}");
}

#[test]
fn children_animals_and_things_are_refused() {
    // A child: small, and its head large.
    let mut child = man();
    child.positions.iter_mut().for_each(|p| *p *= 0.62);
    assert!(refusal(child).contains("adults"));
    let legs = [(-0.15, -0.5), (0.15, -0.5), (-0.15, 0.5), (0.15, 0.5)]
        .map(|(x, z)| box_at(Vec3::new(0.12, 0.6, 0.12), Vec3::new(x, 0.3, z)));
    let trunk = box_at(Vec3::new(0.4, 0.4, 1.3), Vec3::new(0.0, 0.8, 0.0));
    let head = box_at(Vec3::new(0.25, 0.3, 0.3), Vec3::new(0.0, 1.2, 0.7));
    refusal(with(with(trunk, &[head]), &legs));
    refusal(shapes::icosphere(0.85, 4));
    refusal(shapes::cuboid(Vec3::new(0.5, 1.8, 0.3), 20));
}

#[test]
fn nothing_and_numbers_that_are_none() {
    assert!(refusal(TriMesh::default()).contains("0 usable points"));
    let mut mesh = man();
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::NAN);
    assert!(refusal(mesh).contains("0 usable points"));
    let mut mesh = man();
    mesh.triangles.push([0, 1, 99_999_999]);
    assert!(refusal(mesh).contains("damaged"));
    let mut cloud = man();
    cloud.triangles.clear();
    cloud.positions.truncate(40);
    assert!(refusal(cloud).contains("40 usable points"));
}

/// A few lost vertices, faces turned inwards, and a mirror image: done, and said.
#[test]
fn what_can_be_mended_is_mended() {
    let mut mesh = man();
    mesh.positions[20] = Vec3::NAN;
    mesh.flip();
    let found = try_register(mesh).unwrap();
    assert!(found.placement.inside_out && found.distances.rms < 0.001);
    assert!(found.warnings.iter().any(|w| w.contains("inside out")));
    let mirror = Affine3A::from_mat3(Mat3::from_diagonal(Vec3::new(-1.0, 1.0, 1.0)));
    let mut mesh = man();
    mesh.positions
        .iter_mut()
        .for_each(|p| *p = mirror.transform_point3(*p));
    let found = try_register(mesh).unwrap();
    assert!(found.placement.inside_out && found.distances.rms < 0.001);
}

/// Tall enough for an adult, but with the head of a child.
#[test]
fn a_tall_child_is_refused() {
    let model = BodyModel::embedded(Sex::Male);
    let mut figure = Figure::mean(model);
    let head = model
        .field_names
        .iter()
        .position(|name| name == "head size");
    figure.coefficients[head.unwrap()] = 0.35;
    let mut mesh = model.mesh(&figure.vertices(model));
    mesh.positions.iter_mut().for_each(|p| *p *= 0.73);
    assert!(refusal(mesh).contains("child"));
}
