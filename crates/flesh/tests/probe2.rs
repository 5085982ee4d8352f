mod common;
use supple_flesh::{base_points::*, bone_graph::*, bone_surface::*, skeleton_volume::*, surface::*};

#[test]
fn probe2() {
    let Some(c) = common::fps("cylinder", "cylinder") else { return };
    let rb = common::read_f32(&common::shared("fps/reference/cylinder_rest_basepoints.f32").unwrap());
    let rs = common::read_f32(&common::shared("fps/reference/cylinder_rest_shrunken.f32").unwrap());
    let mut idx: Vec<usize> = (0..rb.len()).collect();
    idx.sort_by(|&a,&b| c.parts[0].mesh.positions[a].x.total_cmp(&c.parts[0].mesh.positions[b].x));
    for &i in idx.iter().step_by(9) { let x=c.parts[0].mesh.positions[i]; println!("x {:.3?} base {:.3?} shr {:.3?} r={:.3} axial {:.3}", x, rb[i], rs[i], (rs[i].y.powi(2)+rs[i].z.powi(2)).sqrt(), rs[i].x); }
    let Some(c) = common::fps("male", "male_LR20") else { return };
    let rb = common::read_f32(&common::shared("fps/reference/male_rest_basepoints.f32").unwrap());
    let rs = common::read_f32(&common::shared("fps/reference/male_rest_shrunken.f32").unwrap());
    let skin = Surface::new(c.parts[0].mesh.positions.iter().map(|p| p.as_dvec3()).collect(), c.parts[0].mesh.triangles.clone());
    let inside = |_| true;
    let graph = bone_graph(&GraphInput { skeleton: &c.skeleton, uses: None, inside: &inside, merge_distance: 1e-4 * skin.size(), virtual_bones: &[] });
    let nodes: Vec<_> = graph.nodes.iter().map(|n| n.position).collect();
    let volume = skeleton_volume(&graph, &skin, &GivenRadii::default());
    for (reach,steps) in [(0.0,0),(0.015,8)] {
    let feet = base_points(&graph, &skin, Smoothing { reach, steps });
    let hits = bone_surface(&graph, &volume, &skin, &feet);
    // group by nearest bone of reference base
    let mut acc = std::collections::BTreeMap::<(String,String),(usize,f64,f64)>::new();
    let mut tot=0.0;
    for v in 0..skin.len() {
        let p = rb[v].as_dvec3();
        let b = (0..graph.bones.len()).min_by(|&a,&b| { let d=|k| {let (s,e)=graph.segment(k); let t=((p-s).dot(e-s)/(e-s).length_squared()).clamp(0.,1.); p.distance(s.lerp(e,t))}; d(a).total_cmp(&d(b)) }).unwrap();
        let name = |b: usize| c.skeleton.joints()[graph.bones[b].joint].name.clone()+">"+&c.skeleton.joints()[graph.nodes[graph.bones[b].end].joints[0]].name;
        let d = p.distance_squared(foot_position(&graph,&nodes,&feet[v]));
        tot+=d;
        let e = acc.entry((name(b), name(feet[v].bone.unwrap()))).or_default(); e.0+=1; e.1+=d; e.2+=hits[v].position.distance_squared(rs[v].as_dvec3());
    }
    println!("reach {reach} total {tot}");
    let mut l: Vec<_> = acc.into_iter().collect(); l.sort_by(|a,b| b.1.1.total_cmp(&a.1.1));
    for ((r,m),(n,d,h)) in l.into_iter().take(25) { println!("  ref {r:40} mine {m:40} n {n:4} base {d:.2} rms {:.3} bone {h:.2}", (d/n as f64).sqrt()); }
    }
}
