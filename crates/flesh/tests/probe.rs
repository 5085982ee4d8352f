mod common;
use std::collections::BTreeMap;
use supple_flesh::{base_points::*, bone_surface::*, body::*, prisms::*, untangle::*, surface::*, Flesh, regions::joint_of};
#[test]
fn probe() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets");
    let c = common::glb(&assets.join("male.glb"));
    let flesh = Flesh::builder(&c).build().unwrap();
    let g = flesh.graph();
    let name = |j: usize| c.skeleton.joints()[j].name.as_str();
    for (i,b) in g.bones.iter().enumerate() { let e=&g.nodes[b.end]; if name(b.joint)=="head" {println!("bone {i} {} -> {:?} len {:.3} r {:.4} (nodes r {:.4} {:.4}) virt {}", name(b.joint), e.joints.iter().map(|&j| name(j)).collect::<Vec<_>>(), g.length(i), flesh.volume().bone_radii[i], flesh.volume().node_radii[b.start], flesh.volume().node_radii[b.end], b.is_virtual);} }
    let m = flesh.skin_mesh();
    let skin = Surface::new(m.positions.iter().map(|p| p.as_dvec3()).collect(), m.triangles.clone());
    for reach in [0.015] {
    let feet = base_points(g, &skin, Smoothing { reach, steps: 8 });
    let hits = bone_surface(g, flesh.volume(), &skin, &feet);
    let mut bone: Vec<_> = hits.iter().map(|h| h.position).collect();
    let tets = split_prisms(&skin.triangles, skin.len());
    let at = |bone: &[glam::DVec3], t: &[u32;4]| t.map(|v| if (v as usize) < skin.len() { skin.positions[v as usize] } else { bone[v as usize - skin.len()] });
    let mut inv: BTreeMap<&str,(usize,usize,usize)> = BTreeMap::new();
    for t in &tets { let k = name(joint_of(g, &feet[t[0] as usize % skin.len()])); let e=inv.entry(k).or_default(); e.0+=1; if determinant(at(&bone,t))<0.0 {e.1+=1;} }
    let (keep, r) = untangle(&skin, &mut bone, &tets);
    for (i,t) in tets.iter().enumerate() { let k = name(joint_of(g, &feet[t[0] as usize % skin.len()])); if !keep[i] { inv.entry(k).or_default().2+=1; } }
    println!("reach {reach} {r:?}");
    let mut n=0; for (i,t) in tets.iter().enumerate() { if !keep[i] { n+=1; if n%97==1 { let tri=skin.triangles[i/3]; let p=tri.map(|v| skin.positions[v as usize]); let mut nn=[0.0;3]; let fnorm=(p[1]-p[0]).cross(p[2]-p[0]).normalize(); for k in 0..3 { nn[k]=skin.normals[tri[k] as usize].dot(fnorm);} println!("   dropped tet {i} at {:.3} edges {:.5} {:.5} {:.5} det {:.2e} alt {:.2e} facing {:.2?} thickness {:.5}", p[0], p[0].distance(p[1]), p[1].distance(p[2]), p[2].distance(p[0]), determinant(at(&bone,t)), altitude(at(&bone,t)), nn, bone[tri[0] as usize].distance(p[0])); } } }
    let mut l: Vec<_> = inv.into_iter().collect(); l.sort_by_key(|x| std::cmp::Reverse(x.1.1));
    for (k,(n,i,d)) in l.into_iter().take(8) { println!("   {k}: {n} tets {i} inverted {d} dropped"); }
    }
    let _ = Body::new(&c);
}
