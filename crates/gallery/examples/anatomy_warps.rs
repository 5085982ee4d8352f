//! Bones and muscles carried into an overweight man by a harmonic warp of the skin alone, and by layers (figure 4.13).

mod common;

use common::harmonic::HarmonicWarp;
use common::people::{Mould, standing};
use supple::anatomy::person::transfer::BoneMap;
use supple::embedded::Body;
use supple::geom::TriMesh;
use supple::glam::Vec3;

const SIZE: (usize, usize) = (250, 400);

fn main() {
    let mould = Mould::new(Body::Male);
    let template = &mould.template;
    let person = mould.someone(1.78, 36.0, &[("waist depth", 0.1)]);
    let fit = mould.fit(&person);
    let harmonic = HarmonicWarp::new(&template.layers.skin_mesh(), &person.skin);
    let carried = |mesh: &TriMesh| harmonic.mesh(mesh);
    let bones: Vec<TriMesh> = template
        .bones
        .iter()
        .map(|b| carried(&b.bone.mesh))
        .collect();
    let muscles: Vec<TriMesh> = template.muscles.iter().map(|m| carried(&m.mesh)).collect();

    let thick = [&bones, &fit.bones].map(|bones| femur_thickness(&mould, bones));
    let volume = |muscles: &[TriMesh]| muscles.iter().map(TriMesh::signed_volume).sum::<f64>();
    let own = volume(
        &template
            .muscles
            .iter()
            .map(|m| m.mesh.clone())
            .collect::<Vec<_>>(),
    );
    let flesh = [volume(&muscles) / own, volume(&fit.muscles) / own];
    let (front, side) = (Vec3::new(0.1, 0.04, 1.0), Vec3::new(1.0, 0.04, 0.25));
    let draw = |meshes, direction| standing(SIZE, meshes, direction, 1.84);
    let mut tiles = Vec::new();
    for (name, muscles, bones, k) in [
        ("skin alone, harmonic", &muscles, &bones, 0),
        ("layers, triharmonic", &fit.muscles, &fit.bones, 1),
    ] {
        let text = format!("{name}: muscles {:.2} times as large", flesh[k]);
        tiles.push((draw(mould.muscles(muscles, bones), front), text));
        let text = format!("femora {:.2} times as thick", thick[k]);
        tiles.push((draw(vec![mould.bones(bones)], side), text));
    }
    let title = "A man of 114 kg: anatomy warped by the skin alone, and by layers";
    common::save("anatomy_warps", &common::sheet(title, &tiles, 4));
    println!(
        "thickness of the femora {thick:.2?}, volume of the muscles {flesh:.2?} times the template's"
    );
    assert!(thick[0] > thick[1] + 0.15 && (thick[1] - 1.0).abs() < 0.12);
    assert!(flesh[0] > flesh[1] + 0.2);
}

/// Thickness of the femora over the template's: the mean of the two scales across.
fn femur_thickness(mould: &Mould, bones: &[TriMesh]) -> f64 {
    let both = mould.template.bones.iter().zip(bones);
    let thick: Vec<f64> = both
        .filter(|(bone, _)| bone.bone.name.starts_with("femur"))
        .map(|(bone, mesh)| {
            let [_, b, c] = scales_across(&bone.bone.mesh, mesh);
            0.5 * (b + c)
        })
        .collect();
    thick.iter().sum::<f64>() / thick.len() as f64
}

/// Scales of a bone along its length, and across.
fn scales_across(before: &TriMesh, after: &TriMesh) -> [f64; 3] {
    let map = BoneMap::between(&before.positions, &after.positions);
    let centre = before.bounds().center();
    let scale = |axis: Vec3| (map.at(centre + axis) - map.at(centre)).length();
    [scale(Vec3::Y), scale(Vec3::X), scale(Vec3::Z)]
}
