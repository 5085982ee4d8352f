//! smoke
use supple_rig::formats::{ReadOptions, gltf};
#[test]
fn smoke() {
    for f in [
        "body/male.glb",
        "body/female.glb",
        "characters/Fox.glb",
        "characters/CesiumMan.glb",
        "characters/100Avatars_001_Crimsom.vrm",
    ] {
        let b = std::fs::read(format!("../../../shared/data/{f}")).unwrap();
        let c = gltf::read_glb(&b, &ReadOptions::default()).unwrap();
        println!(
            "{f}: parts {} verts {:?} joints {} clips {:?} mats {} units {:?} problems {:?} humanoid {:?} about {:?}",
            c.parts.len(),
            c.parts
                .iter()
                .map(|p| (
                    p.mesh.positions.len(),
                    p.mesh.triangles.len(),
                    p.morphs.len(),
                    p.uvs.len()
                ))
                .collect::<Vec<_>>(),
            c.skeleton.len(),
            c.clips
                .iter()
                .map(|c| (c.name.clone(), c.duration()))
                .collect::<Vec<_>>(),
            c.materials.len(),
            c.units,
            c.problems,
            c.humanoid.as_ref().map(|h| h.len()),
            c.about
        );
    }
}
