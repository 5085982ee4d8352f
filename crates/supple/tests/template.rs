//! The embedded templates.

use supple::anatomy::template::musculature::volumes::{
    body_mass, literature_legs, literature_volume,
};
use supple::anatomy::template::wrapping::enclosure::enclosure;
use supple::anatomy::template::wrapping::wrap::is_wrapped;
use supple::anatomy::template::{Group, write_template};
use supple::anatomy::{LayeredBody, Sex};
use supple::embedded::{Body, template, template_bytes};
use supple::geom::Surface;

fn each(check: impl Fn(&LayeredBody)) {
    for which in [Body::Male, Body::Female] {
        check(&template(which).unwrap());
    }
}

/// Larger files would not fit beside everything else into a package of 10 MB.
#[test]
fn files_are_small_and_come_back_to_the_bit() {
    for which in [Body::Male, Body::Female] {
        let bytes = template_bytes(which);
        assert!(bytes.len() <= 4 << 20, "{} bytes", bytes.len());
        assert!(write_template(&template(which).unwrap()) == bytes);
    }
}

#[test]
fn skins_are_those_of_the_embedded_bodies() {
    for (name, sex) in [("@male", Sex::Male), ("@female", Sex::Female)] {
        let (template, character) = (
            supple::load_layered(name).unwrap().body().unwrap().clone(),
            supple::load(name).unwrap(),
        );
        assert_eq!(template.body.sex, sex);
        assert_eq!(template.body.skeleton, character.skeleton);
        let skin = supple::anatomy::Body::from_character(&character, sex).unwrap();
        assert_eq!(template.body.mesh, skin.mesh);
        assert_eq!(template.layers.skin, skin.mesh.positions);
        assert_eq!(template.layers.layered, skin.layered());
    }
}

#[test]
fn layers_are_nested() {
    each(|template| {
        let measures = template.layers.measures();
        assert_eq!((measures.muscle_outside, measures.skeleton_outside), (0, 0));
        assert_eq!((measures.inverted_fat, measures.inverted_muscle), (0, 0));
    });
}

#[test]
fn skin_and_bone_lie_over_each_other() {
    each(|template| {
        let alignment = template.layers.measures().alignment;
        assert!(
            alignment.mean <= 0.05 && alignment.p95 <= 0.2,
            "{alignment:?}"
        );
        let bones = template.bones.iter().filter(|b| is_wrapped(&b.bone.name));
        let points: Vec<_> = bones.flat_map(|b| b.bone.mesh.positions.clone()).collect();
        let layers = &template.layers;
        let found = enclosure(&layers.skeleton_mesh(), &layers.layered, &points);
        assert!(found.inside >= 0.99 && found.farthest <= 0.003, "{found:?}");
    });
}

#[test]
fn volumes_are_those_of_the_literature() {
    each(|template| {
        let near = |volume: f64, wanted: f64| (volume / wanted - 1.0).abs() <= 0.1;
        let sex = template.body.sex;
        let mass = body_mass(template.body.mesh.signed_volume(), sex);
        let volume = |wanted: &dyn Fn(Group) -> bool| -> f64 {
            let own = template.muscles.iter().filter(|m| wanted(m.group));
            own.map(|m| m.volume).sum()
        };
        let all = volume(&|_| true);
        assert!(
            near(all, literature_volume(mass, sex)),
            "{all} m³ of muscle"
        );
        let legs = volume(&|group| matches!(group, Group::UpperLeg | Group::LowerLeg));
        assert!(
            near(legs, literature_legs(mass, sex)),
            "{legs} m³ of muscle in the legs"
        );
        let bones: f64 = template
            .bones
            .iter()
            .map(|b| b.bone.mesh.signed_volume())
            .sum();
        let range = if sex == Sex::Male {
            6e-3..9e-3
        } else {
            4.5e-3..7e-3
        };
        assert!(range.contains(&bones), "{bones} m³ of bone");
    });
}

#[test]
fn bones_and_muscles_are_inside_the_skin() {
    each(|template| {
        let skin = Surface::new(template.body.mesh.clone());
        let outer = template.body.outer_surface();
        for bone in &template.bones {
            let out = bone
                .bone
                .mesh
                .positions
                .iter()
                .filter(|p| !outer.contains(**p));
            assert_eq!(out.count(), 0, "{}", bone.bone.name);
        }
        for muscle in &template.muscles {
            let out = muscle
                .mesh
                .positions
                .iter()
                .filter(|p| !skin.contains(**p))
                .count();
            assert!(
                out as f64 <= 0.01 * muscle.mesh.positions.len() as f64,
                "{}: {out}",
                muscle.name
            );
            assert_eq!(
                muscle.fibres.len(),
                muscle.mesh.positions.len(),
                "{}",
                muscle.name
            );
            assert!(
                muscle.fibres.iter().all(|fibre| fibre.is_normalized()),
                "{}",
                muscle.name
            );
            assert!(muscle.volume > 0.0);
        }
        assert!(template.bones.len() == 178 && template.muscles.len() >= 100);
    });
}

#[test]
fn every_layered_vertex_has_its_regions() {
    each(|template| {
        let regions = &template.regions;
        for v in 0..template.layers.skin.len() {
            let layered = template.layers.layered[v];
            assert_eq!(regions.group[v].is_some(), layered);
            assert_eq!(regions.fat[v].is_some(), layered);
            assert_eq!(regions.bone[v].is_some(), layered);
            assert!(layered || !(regions.abdomen[v] || regions.slides[v]));
            // The belly slides as a whole.
            assert!(!regions.abdomen[v] || regions.slides[v]);
        }
        for group in &Group::ALL[..8] {
            let count = regions
                .group
                .iter()
                .filter(|&&own| own == Some(*group))
                .count();
            assert!(count > 50, "{} has {count} vertices", group.name());
        }
        let share = |marks: &[bool]| marks.iter().filter(|&&mark| mark).count() as f64 / 4489.0;
        assert!(
            (0.1..0.6).contains(&share(&regions.slides)),
            "{}",
            share(&regions.slides)
        );
    });
}

/// Left and right of the skin are mirror images, and so are their regions but for a few vertices at borders.
#[test]
fn regions_are_symmetric() {
    each(|template| {
        let (skin, regions) = (&template.layers.skin, &template.regions);
        let (mut pairs, mut differ) = (0, 0);
        let mut sorted: Vec<usize> = (0..skin.len()).collect();
        sorted.sort_by(|&a, &b| skin[a].y.total_cmp(&skin[b].y));
        for &v in sorted.iter().filter(|&&v| skin[v].x > 1e-3) {
            let wanted = skin[v] * glam::Vec3::new(-1.0, 1.0, 1.0);
            let first = sorted.partition_point(|&other| skin[other].y < wanted.y - 1e-4);
            let near = sorted[first..]
                .iter()
                .take_while(|&&other| skin[other].y < wanted.y + 1e-4);
            let Some(&twin) = near
                .into_iter()
                .find(|&&other| skin[other].distance(wanted) < 2e-4)
            else {
                continue;
            };
            pairs += 1;
            differ += usize::from(regions.group[v] != regions.group[twin]);
        }
        assert!(pairs > 3000, "{pairs} pairs");
        assert!(differ * 100 < pairs, "{differ} of {pairs} differ");
    });
}
