//! Hard and hanging shells keep their shape or follow their own weights, and clothes stay outside the skin.

use glam::{Affine3A, Vec3};
use supple::flesh::shells::shell_kinds::shell_kinds;
use supple::geom::decimate::{Decimation, decimate};
use supple::geom::normals::vertex_normals;
use supple::geom::shapes::{capped_tube, cuboid, icosphere};
use supple::geom::{Surface, TriMesh};
use supple::rig::character::{Binding, Influences};
use supple::rig::retarget::humanoid::Side;
use supple::rig::retarget::{BoneMap, HumanBone, Humanoid};
use supple::rig::skeleton::{Joint, JointKind};
use supple::rig::skinning::Method;
use supple::rig::{Part, Transform};
use supple::settings::Resolution;
use supple::{Character, Pose, Settings, Skeleton, SoftBody};

/// Joints of each strand of hair.
const STRAND_JOINTS: usize = 5;

fn coarse() -> Settings {
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(1000);
    settings
}

fn joint(character: &Character, bone: HumanBone) -> usize {
    let humanoid = Humanoid::find(&character.skeleton, &BoneMap::of(character)).unwrap();
    humanoid.joint(bone).unwrap()
}

fn place(character: &Character, joint: usize) -> Vec3 {
    character.skeleton.rest_worlds()[joint].translation.into()
}

/// Adds a part in world space. `weights` gives joints and weights of a vertex.
fn add(
    character: &mut Character,
    name: &str,
    mesh: TriMesh,
    weights: &dyn Fn(usize, Vec3) -> Vec<(usize, f32)>,
) {
    let worlds = character.skeleton.rest_worlds();
    let vertices = mesh.positions.iter().enumerate();
    let lists = vertices.map(|(v, &p)| {
        let own = weights(v, p).into_iter();
        own.map(|(joint, weight)| (joint as u32, weight)).collect()
    });
    character.parts.push(Part {
        name: name.to_owned(),
        binding: Binding {
            joints: (0..worlds.len()).collect(),
            inverse_binds: worlds.iter().map(|world| world.inverse()).collect(),
            influences: Influences::from_lists(lists.collect::<Vec<_>>()),
            computed: false,
        },
        mesh,
        ..Part::default()
    });
}

fn moved(mut mesh: TriMesh, to: Vec3) -> TriMesh {
    mesh.transform(&Affine3A::from_translation(to));
    mesh
}

/// Adds a chain of joints that hangs straight down from a place on a joint, and a strand around it.
fn add_strand(character: &mut Character, name: &str, parent: usize, root: Vec3, step: f32) {
    let mut joints = character.skeleton.joints().to_vec();
    let first = joints.len();
    let world = character.skeleton.rest_worlds()[parent];
    let down = world.inverse().transform_vector3(Vec3::NEG_Y * step);
    for k in 0..STRAND_JOINTS {
        let at = world.inverse().transform_point3(root);
        joints.push(Joint {
            name: format!("{name}{k}"),
            parent: Some(if k == 0 { parent } else { first + k - 1 }),
            rest: Transform::from_translation(if k == 0 { at } else { down }),
            tail: None,
            kind: JointKind::Bone,
        });
    }
    let (skeleton, order) = Skeleton::from_unordered(joints).unwrap();
    assert!(order.iter().enumerate().all(|(old, &new)| old == new));
    character.skeleton = skeleton;
    let length = step * (STRAND_JOINTS - 1) as f32;
    let mut mesh = capped_tube(0.012, length, 8, 24);
    let bounds = mesh.bounds();
    let top = Vec3::new(0.0, bounds.max.y, 0.0);
    mesh.transform(&Affine3A::from_translation(root - top));
    add(character, name, mesh, &|_, p| {
        let t = ((root.y - p.y) / step).clamp(0.0, (STRAND_JOINTS - 1) as f32);
        let k = (t as usize).min(STRAND_JOINTS - 2);
        let share = t - k as f32;
        vec![(first + k, 1.0 - share), (first + k + 1, share)]
    });
}

/// The embedded body with a hat, a backpack, a chest plate, a coarse sleeve and three strands of hair.
fn dressed() -> Character {
    let mut hero = supple::load("@male").unwrap().into_character();
    let head = joint(&hero, HumanBone::Head);
    let spine = Humanoid::find(&hero.skeleton, &BoneMap::of(&hero))
        .unwrap()
        .spine;
    let (low, high) = (spine[0], spine[spine.len() - 1]);
    let skin = hero.bind_mesh(0);
    let top = skin.bounds().max.y;
    let crown = Vec3::new(0.0, top, place(&hero, head).z);
    add(
        &mut hero,
        "hat",
        moved(icosphere(0.13, 3), crown),
        &|_, _| vec![(head, 1.0)],
    );
    let chest = place(&hero, high);
    let surface = Surface::new(skin.clone());
    let back = chest - Vec3::Z * 0.25;
    add(
        &mut hero,
        "backpack",
        moved(cuboid(Vec3::new(0.3, 0.4, 0.12), 4), back),
        &|_, _| vec![(low, 0.5), (high, 0.5)],
    );
    let ray = supple::geom::surface::Ray {
        origin: chest + Vec3::Z,
        direction: Vec3::NEG_Z,
    };
    let front = chest + Vec3::Z * (1.0 - surface.first_hit(ray, 2.0).unwrap().t + 0.02);
    let plate = moved(cuboid(Vec3::new(0.2, 0.3, 0.01), 6), front);
    add(&mut hero, "plate", plate, &|_, p| {
        let t = (0.5 + (p.y - front.y) / 0.3).clamp(0.0, 1.0);
        vec![(low, 1.0 - t), (high, t)]
    });
    add_sleeve(&mut hero, &skin);
    for (k, x) in [-0.06, 0.0, 0.06].into_iter().enumerate() {
        let root = Vec3::new(x, top - 0.1, crown.z - 0.14);
        add_strand(&mut hero, &format!("strand{k}"), head, root, 0.12);
    }
    hero
}

/// Adds a sleeve: the skin of the left arm, 8 mm outwards and with few vertices, so that it cuts corners.
fn add_sleeve(hero: &mut Character, skin: &TriMesh) {
    let arm = joint(hero, HumanBone::UpperArm(Side::Left));
    let hand = joint(hero, HumanBone::Hand(Side::Left));
    let (from, to) = (place(hero, arm), place(hero, hand));
    let axis = (to - from).normalize();
    let inside = |v: u32| {
        let p = skin.positions[v as usize];
        let along = (p - from).dot(axis) / from.distance(to);
        let aside = (p - from - axis * (p - from).dot(axis)).length();
        (0.25..0.9).contains(&along) && aside < 0.12
    };
    let chosen = (0..skin.triangles.len()).filter(|&t| skin.triangles[t].into_iter().all(inside));
    let normals = vertex_normals(skin);
    let mut sub = skin.extract(chosen.map(|t| t as u32));
    let outwards: Vec<Vec3> = (sub.whole_vertex.iter())
        .map(|&v| skin.positions[v as usize] + 0.008 * normals[v as usize])
        .collect();
    sub.mesh.positions = outwards;
    let options = Decimation {
        target: sub.mesh.positions.len() / 4,
        ..Decimation::default()
    };
    let few = decimate(&sub.mesh, &options);
    let binding = hero.parts[0].binding.clone();
    let (vertices, kept) = (sub.whole_vertex, few.kept);
    add(hero, "sleeve", few.mesh, &|v, _| {
        let own = binding.influences.of(vertices[kept[v] as usize] as usize);
        let weights = own.iter();
        weights
            .map(|&(slot, weight)| (binding.joints[slot as usize], weight))
            .collect()
    });
}

fn by_linear_blend(hero: &Character, pose: &Pose) -> Vec<Vec<Vec3>> {
    let parts = hero.skin(pose, Method::Lbs).into_iter();
    parts.map(|part| part.positions).collect()
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn hard_and_hanging_shells_start_where_linear_blend_puts_them() {
    let hero = dressed();
    let height = hero.height();
    let mut body = SoftBody::new(&hero, coarse()).unwrap();
    let shells = &body.flesh().report.shells;
    let kind = |name: &str| {
        let shell = shells.iter().find(|shell| shell.key == name).unwrap();
        (shell.kind.name(), shell.reason)
    };
    assert_eq!(kind("hat").0, "rigid");
    assert_eq!(kind("backpack").0, "rigid");
    assert_eq!(kind("plate").0, "rigid");
    assert_eq!(kind("sleeve").0, "cloth");
    for k in 0..3 {
        assert_eq!(kind(&format!("strand{k}")).0, "hair");
    }
    let rest = body.pose().clone();
    for (part, bind) in body.positions().iter().zip(by_linear_blend(&hero, &rest)) {
        assert!(farthest(part, &bind) < 1e-5 * height);
    }
    for name in ["jump", "squat", "shake", "twist"] {
        let clip = supple::clip(&hero, name).unwrap();
        for share in [0.0, 0.5] {
            let pose = clip.sample(&hero.skeleton, share * clip.duration());
            body.place(&pose).unwrap();
            let shown = body.positions();
            let blended = by_linear_blend(&hero, &pose);
            for (p, part) in hero.parts.iter().enumerate().skip(1) {
                let far = farthest(&shown[p], &blended[p]);
                let is_cloth = part.name == "sleeve";
                assert!(
                    far <= 0.01 * height || (is_cloth && share > 0.0),
                    "{name} at {share}: {} is {far} m from linear blend",
                    part.name
                );
            }
        }
    }
}

/// The plate keeps its shape where the body below it moves.
#[test]
fn rigid_shells_keep_their_shape() {
    let hero = dressed();
    let mut body = SoftBody::new(&hero, coarse()).unwrap();
    let clip = supple::clip(&hero, "squat").unwrap();
    let pose = clip.sample(&hero.skeleton, 0.5 * clip.duration());
    body.place(&pose).unwrap();
    let shown = body.positions();
    for (p, part) in hero.parts.iter().enumerate() {
        if !["hat", "backpack"].contains(&part.name.as_str()) {
            continue;
        }
        let rest = &part.mesh.positions;
        for a in (0..rest.len()).step_by(7) {
            for b in (0..rest.len()).step_by(5) {
                let change = shown[p][a].distance(shown[p][b]) - rest[a].distance(rest[b]);
                assert!(change.abs() < 1e-4, "{}: {change}", part.name);
            }
        }
    }
}

/// Vertices of the arm that the sleeve covers at rest stay under it where the elbow bends.
#[test]
fn skin_stays_under_a_coarse_sleeve() {
    let hero = dressed();
    let sleeve = hero.parts.iter().position(|p| p.name == "sleeve").unwrap();
    let cover = |positions: &[Vec<Vec3>]| {
        Surface::new(TriMesh {
            positions: positions[sleeve].clone(),
            triangles: hero.parts[sleeve].mesh.triangles.clone(),
        })
    };
    // Signed distance above the sleeve, where the nearest point is not at its rim.
    let above = |sleeve: &Surface, point: Vec3| {
        let nearest = sleeve.closest_point_within(point, 0.02)?;
        let [a, b, c] = sleeve.mesh().corners(nearest.triangle as usize);
        let normal = (b - a).cross(c - a).normalize();
        let height = (point - nearest.position).dot(normal);
        (height.abs() > 0.95 * nearest.distance).then_some(height)
    };
    let mut body = SoftBody::new(&hero, coarse()).unwrap();
    let rest = body.positions();
    let surface = cover(&rest);
    let covered: Vec<usize> = (0..rest[0].len())
        .filter(|&v| above(&surface, rest[0][v]).is_some_and(|height| height < 0.0))
        .collect();
    assert!(covered.len() > 100, "{}", covered.len());
    let clip = supple::clip(&hero, "elbow").unwrap();
    let outside = |shown: &[Vec<Vec3>]| {
        let surface = cover(shown);
        let heights = covered.iter().filter_map(|&v| above(&surface, shown[0][v]));
        heights.filter(|&height| height > 1e-3).count()
    };
    // Where the elbow is folded all the way, both sides of the sleeve overlap, and some skin is outside one of them.
    for (share, most) in [(0.3, 0.0), (0.4, 0.5)] {
        let pose = clip.sample(&hero.skeleton, share * clip.duration());
        body.place(&pose).unwrap();
        let out = outside(&body.positions());
        let before = outside(&by_linear_blend(&hero, &pose));
        assert!(before > 10, "{before}");
        assert!(
            out as f32 <= most * before as f32,
            "{share}: {out} outside, {before} by linear blend"
        );
    }
}

/// A key of the settings sets a kind by name, number or pattern; a wrong one is an error that says where to look.
#[test]
fn settings_override_the_automatic_kinds() {
    let hero = dressed();
    let kinds = |text: &str| {
        let settings = Settings::from_toml(text).unwrap();
        shell_kinds(&hero, &settings.shells).map(|kinds| kinds.shells)
    };
    let automatic = kinds("").unwrap();
    let hat = automatic.iter().position(|s| s.key == "hat").unwrap();
    for key in ["hat".to_owned(), hat.to_string()] {
        let shells = kinds(&format!("[shells]\n{key} = \"cloth\"")).unwrap();
        assert_eq!(shells[hat].kind.name(), "cloth");
        assert_eq!(shells[hat].reason, "set by the user");
    }
    let shells = kinds("[shells]\n\"strand*\" = \"rigid\"").unwrap();
    let strands = shells.iter().filter(|s| s.key.starts_with("strand"));
    assert_eq!(strands.filter(|s| s.kind.name() == "rigid").count(), 3);
    let error = kinds("[shells]\ncape = \"cloth\"").err().unwrap();
    assert!(
        error.to_string().contains("no shell has that name"),
        "{error}"
    );
    let error = kinds("[shells]\nhat = \"rigid:nose\"").err().unwrap();
    assert!(error.to_string().contains("nose"), "{error}");
}
