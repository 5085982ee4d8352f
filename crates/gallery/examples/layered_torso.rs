//! Figure 4.17: a heavy man jumps to the side and turns his trunk, with two layers and with three. The belly swings and the rib cage
//! does not; the rib cage turns as a whole.

mod common;

use common::{save, sheet, tile, view};
use supple::Subject;
use supple::anatomy::Sex;
use supple::geom::TriMesh;
use supple::glam::Vec3;
use supple::tissue::SoftBody;
use supple_lab::layered_motion::{
    SideJump, Torso, mean_shear, root_mean_square, shears, triangles_within, turned_spine,
};
use supple_lab::people::person_of_bmi;
use supple_picture::{DrawMesh, Image, Ramp, heat_colours};

/// Ends of the colour scales: swing [m] and shear [°].
const MOST_SWING: f32 = 0.05;
const MOST_SHEAR: f32 = 25.0;

fn main() {
    let anatomy = person_of_bmi(Sex::Male, 30.0).unwrap();
    let made = Subject::from(&anatomy);
    let (character, layers) = (made.character(), made.layers().unwrap());
    let torso = Torso::new(&anatomy, layers).unwrap();
    let rest = character.parts[0].mesh.positions.clone();
    let triangles = &character.parts[0].mesh.triangles;
    let ribs = triangles_within(triangles, &torso.ribs);
    let waist = anatomy.body.joint("spine03").unwrap();
    let around = [
        waist - Vec3::new(0.36, 0.3, 0.3),
        waist + Vec3::new(0.36, 0.42, 0.3),
    ];
    let camera = view(&around, Vec3::new(0.25, 0.06, 1.0));
    let draw = |positions: Vec<Vec3>, values: &[f32], most: f32| -> Image {
        let mesh = TriMesh {
            positions,
            triangles: triangles.clone(),
        };
        let colours = heat_colours(values, 0.0, most, Ramp::default());
        tile(
            vec![DrawMesh::owned(mesh).coloured(colours)],
            vec![],
            &camera,
        )
    };

    let mut found = Vec::new();
    let (mut jumps, mut twists) = (Vec::new(), Vec::new());
    for (name, layers) in [("three layers", Some(layers)), ("two layers", None)] {
        let builder = SoftBody::builder(character);
        let mut body = match layers {
            Some(layers) => builder.layers(layers.clone()).build().unwrap(),
            None => builder.build().unwrap(),
        };
        let (mut belly, mut cage, mut peak) = (0.0_f64, 0.0_f64, Vec::new());
        let mut watch = |offsets: &[Vec3]| {
            cage = cage.max(root_mean_square(offsets, &torso.ribs));
            let now = root_mean_square(offsets, &torso.belly);
            if now > belly {
                (belly, peak) = (now, offsets.to_vec());
            }
        };
        let jump = SideJump::default();
        jump.follow(&mut body, 0, &mut watch).unwrap();
        let swing: Vec<f32> = peak.iter().map(|offset| offset.length()).collect();
        let now = rest.iter().zip(&peak).map(|(p, o)| *p + *o).collect();
        let caption = format!(
            "{name}: belly {:.0} mm, ribs {:.1} mm",
            1000.0 * belly,
            1000.0 * cage
        );
        jumps.push((draw(now, &swing, MOST_SWING), caption));

        let rest_pose = body.flesh().rest_pose();
        let pose = turned_spine(&character.skeleton, &rest_pose, Vec3::Y, 45.0);
        body.reset(&pose).unwrap();
        let now = body.positions().swap_remove(0);
        let shear = mean_shear(&ribs, &rest, &now);
        let caption = format!("{name}: shear over the ribs {shear:.1}°");
        let values = at_vertices(triangles, &shears(triangles, &rest, &now), rest.len());
        twists.push((draw(now, &values, MOST_SHEAR), caption));
        found.push((belly / cage, shear));
        println!("{name}: belly/ribs {:.1}, shear {shear:.1}°", belly / cage);
    }
    let (three, two) = (found[0], found[1]);
    assert!(three.0 > 3.0 * two.0, "the belly swings on its own");
    assert!(three.1 < 0.5 * two.1, "the rib cage turns as a whole");
    let tiles: Vec<(Image, String)> = jumps.into_iter().chain(twists).collect();
    save(
        "layered_torso",
        &sheet(
            "A man of BMI 30: jump to the side (farthest frame), trunk turned by 45°",
            &tiles,
            2,
        ),
    );
}

/// Means of the triangles' values at their vertices.
fn at_vertices(triangles: &[[u32; 3]], values: &[Option<f64>], count: usize) -> Vec<f32> {
    let (mut sums, mut counts) = (vec![0.0_f32; count], vec![0.0_f32; count]);
    for (t, value) in triangles.iter().zip(values) {
        for &v in t.iter().filter(|_| value.is_some()) {
            sums[v as usize] += value.unwrap_or(0.0) as f32;
            counts[v as usize] += 1.0;
        }
    }
    sums.iter()
        .zip(&counts)
        .map(|(s, c)| s / c.max(1.0))
        .collect()
}
