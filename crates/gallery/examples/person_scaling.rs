//! A template brought to a person's pose, height and limb lengths (figure 4.9).

mod common;

use common::people::{Mould, mesh, standing};
use supple::anatomy::body_model::Figure;
use supple::anatomy::person::{FitTemplate, crotch::crotch, scaled_template};
use supple::embedded::Body;
use supple::glam::{DQuat, DVec3, Vec3};
use supple_picture::{DrawMesh, Image, hex};

const SIZE: (usize, usize) = (300, 400);
const GREY: Vec3 = hex(0xb9b6b0);
const RED: Vec3 = hex(0xc9584c);
/// Part of the difference in height that scales everything.
const HEIGHT_SHARE: f32 = 0.5;

fn main() {
    let mould = Mould::new(Body::Male);
    let template = &mould.template;
    let person = mould.someone(
        1.98,
        23.0,
        &[("thigh length", 0.08), ("forearm length", 0.08)],
    );
    let crotch = crotch(&template.body).unwrap();
    let scaled = scaled_template(&FitTemplate::new(template, &crotch), &person.skin()).unwrap();

    let whole = &template.layers.skin;
    let height = |skin: &[Vec3]| skin.iter().map(|p| p.y).fold(f32::MIN, f32::max);
    let ratio = height(&person.skin) / height(whole);
    let scale = 1.0 + HEIGHT_SHARE * (ratio - 1.0);
    let root: Vec3 = template.body.joint("root").unwrap();
    let grown: Vec<Vec3> = (whole.iter())
        .map(|p| person.joints[0] + scale * (*p - root))
        .collect();
    let stretched: Vec<Vec3> = scaled.skin.iter().map(|p| p.as_vec3()).collect();
    let posed = mould.of_file(&posed(&mould, &person.coefficients));

    let steps = [
        ("a) scan (red) and template (grey)", &posed, whole.clone()),
        ("b) in the template's pose", &person.skin, whole.clone()),
        ("c) half the difference in height", &person.skin, grown),
        ("d) limbs and spine stretched", &person.skin, stretched),
    ];
    let mut tiles: Vec<(Image, String)> = Vec::new();
    let mut misses = Vec::new();
    for (name, skin, of_template) in &steps {
        let draw = |points: &[Vec3], colour: Vec3| {
            DrawMesh::owned(mesh(points, &template.layers.triangles)).coloured(colour)
        };
        let meshes = vec![draw(skin, RED), draw(of_template, GREY)];
        let image = standing(SIZE, meshes, Vec3::new(0.25, 0.05, 1.0), 2.05);
        let squares = skin
            .iter()
            .zip(of_template)
            .map(|(a, b)| a.distance_squared(*b));
        let miss = (squares.sum::<f32>() / skin.len() as f32).sqrt();
        tiles.push((image, format!("{name}: {:.0} mm apart", 1e3 * miss)));
        misses.push(miss);
    }
    let title = "Pose, height and limb lengths of a person";
    common::save("person_scaling", &common::sheet(title, &tiles, 4));
    println!("template and person apart (RMS): {misses:.3?} m");
    assert!(misses.windows(2).all(|pair| pair[1] < pair[0]));
    assert!(misses[3] < 0.3 * misses[1]);
}

/// The person as a scanner sees it: arms lowered, elbows bent, a knee and the head turned.
fn posed(mould: &Mould, coefficients: &[f64]) -> Vec<Vec3> {
    let model = mould.model();
    let mut figure = Figure {
        coefficients: coefficients.to_vec(),
        ..Figure::mean(model)
    };
    let mut turn = |joint: &str, axis: DVec3, angle: f64| {
        figure.locals[model.joint(joint)] = DQuat::from_axis_angle(axis, angle);
    };
    for (side, sign) in [(".L", 1.0), (".R", -1.0)] {
        turn(&format!("upperarm01{side}"), DVec3::Z, -0.45 * sign);
        turn(&format!("lowerarm01{side}"), DVec3::X, -0.35);
        turn(&format!("upperleg01{side}"), DVec3::Z, 0.08 * sign);
    }
    turn("head", DVec3::Y, 0.3);
    let points = figure.vertices(model);
    points.iter().map(|p| p.as_vec3()).collect()
}
