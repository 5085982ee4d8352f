//! Rows of people: skin, muscles and skeleton from the front and the side.

use supple::embedded::Body;
use supple::glam::Vec3;
use supple_picture::DrawMesh;

use super::{Mould, SKIN, glass, is_nested, mesh, standing};

/// Somebody to show: height [m], body mass index [kg/m²], and fields of the body space that are set.
pub struct Build {
    pub name: &'static str,
    pub height: f64,
    pub index: f64,
    pub fields: &'static [(&'static str, f64)],
}

const FRONT: (usize, usize) = (180, 290);
const ASIDE: (usize, usize) = (110, 290);

/// Draws and checks people, one a row.
pub fn show(name: &str, body: Body, builds: &[Build]) {
    let mould = Mould::new(body);
    let triangles = &mould.template.layers.triangles;
    let (front, side) = (Vec3::new(0.0, 0.03, 1.0), Vec3::new(1.0, 0.03, 0.0));
    let mut rows = Vec::new();
    for build in builds {
        let person = mould.someone(build.height, build.index, build.fields);
        let fit = mould.fit(&person);
        let skin = DrawMesh::owned(mesh(&person.skin, triangles)).coloured(SKIN);
        let muscles = mould.muscles(&fit.muscles, &fit.bones);
        let bones = vec![mould.bones(&fit.bones), glass(&person.skin, triangles, 0.2)];
        let tall = 2.02;
        let mut tiles = Vec::new();
        for (size, direction) in [(FRONT, front), (ASIDE, side)] {
            for meshes in [vec![skin.clone()], muscles.clone(), bones.clone()] {
                tiles.push(standing(size, meshes, direction, tall));
            }
        }
        let made_of = &person.made_of;
        let captions = [
            format!("{}, {:.2} m", build.name, build.height),
            format!("{:.0} kg", made_of.weight.value),
            format!("muscle {:.0} kg", fit.report.masses.muscle),
            format!("fat {:.0} %", made_of.fat_percent.value),
        ];
        println!(
            "{}: BMI {:.1}, {:?}",
            captions.join(", "),
            made_of.body_mass_index,
            fit.report.bone_deformation()
        );
        assert!(is_nested(&fit.report), "{}", build.name);
        assert!(
            fit.report
                .bones
                .iter()
                .all(|b| b.rms < 0.03 && b.p95 < 0.08)
        );
        let [a, b, c, d] = captions;
        let texts = [a, b, c, d, String::new(), String::new()];
        rows.extend(tiles.into_iter().zip(texts));
    }
    let title = "Skin, muscles and skeleton of people fitted from their skin";
    super::super::save(name, &super::super::sheet(title, &rows, 6));
}
