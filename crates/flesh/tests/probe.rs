mod common;
use supple_flesh::{base_points::*, bone_graph::*, bone_surface::*, collision_tets::*, prisms::*, skeleton_volume::*, surface::*, untangle::*};
use std::time::Instant;

#[test]
fn probe() {
    for (model, mesh) in [("cylinder", "cylinder"), ("tbone", "tbone"), ("male", "male_LR20"), ("male","male")] {
        let Some(c) = common::fps(model, mesh) else { return };
        let t0 = Instant::now();
        let skin = Surface::new(c.parts[0].mesh.positions.iter().map(|p| p.as_dvec3()).collect(), c.parts[0].mesh.triangles.clone());
        let inside = |p| skin.winding_number(p) > 0.5;
        let graph = bone_graph(&GraphInput { skeleton: &c.skeleton, uses: None, inside: &inside, merge_distance: 1e-4 * skin.size(), virtual_bones: &[] });
        let t1 = t0.elapsed();
        let volume = skeleton_volume(&graph, &skin, &GivenRadii::default());
        println!("{mesh}: {} v {} t, {} nodes {} bones, size {:.3} vol {:.2}", skin.len(), skin.triangles.len(), graph.nodes.len(), graph.bones.len(), skin.size(), skin.volume());
        if graph.bones.len() < 10 { println!("  bones {:?} nodes {:?}", volume.bone_radii, volume.node_radii); }
        let nodes: Vec<_> = graph.nodes.iter().map(|n| n.position).collect();
        let reference = |name: &str| common::read_f32(&common::shared(&format!("fps/reference/{model}_{name}.f32")).unwrap());
        let (rb, rs) = (reference("rest_basepoints"), reference("rest_shrunken"));
        for (reach, steps) in [(0.0, 0), (0.01, 8), (0.02, 8), (0.03,8), (0.05,8), (0.1, 8), (0.3, 16)] {
            let t2 = Instant::now();
            let feet = base_points(&graph, &skin, Smoothing { reach, steps });
            let t3 = t2.elapsed();
            let base: Vec<_> = feet.iter().map(|f| foot_position(&graph, &nodes, f)).collect();
            let hits = bone_surface(&graph, &volume, &skin, &feet);
            let tets = split_prisms(&skin.triangles, skin.len());
            let mut bone: Vec<_> = hits.iter().map(|h| h.position).collect();
            let rms = |a: &[glam::DVec3], b: &[glam::Vec3]| if a.len()!=b.len() {0.0} else {(a.iter().zip(b).map(|(a, b)| a.distance_squared(b.as_dvec3())).sum::<f64>() / a.len() as f64).sqrt() / skin.size()};
            let e_base = rms(&base, &rb); let e_bone = rms(&bone, &rs);
            let t4 = Instant::now();
            let (_, report) = untangle(&skin, &mut bone, &tets);
            let e_after = rms(&bone, &rs);
            let t5 = t4.elapsed();
            let coll = collision_tets(&skin, &base);
            println!("  reach {reach} steps {steps}: base rms {e_base:.4} bone {e_bone:.4} after {e_after:.4} {report:?} coll excluded {} ; graph {t1:?} base {t3:?} untangle {t5:?}", coll.excluded);
        }
    }
}
