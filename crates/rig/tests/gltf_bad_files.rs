//! Broken glTF files give typed errors, never a panic.

mod gltf_common;

use gltf_common::{glb, small};
use serde_json::{Value, json};
use supple_rig::character::Problem;
use supple_rig::formats::gltf::read_glb;
use supple_rig::formats::{FormatError, ReadOptions};

fn read(bytes: &[u8]) -> Result<supple_rig::Character, FormatError> {
    read_glb(bytes, &ReadOptions::default())
}

/// The error of the small file after a change to its JSON.
fn broken(change: impl FnOnce(&mut Value)) -> FormatError {
    let (mut json, bin) = small();
    change(&mut json);
    read(&glb(&json, &bin)).expect_err("the file is broken")
}

#[test]
fn the_unmodified_file_is_valid() {
    let (json, bin) = small();
    let character = read(&glb(&json, &bin)).unwrap();
    assert_eq!(character.parts.len(), 1);
    assert_eq!(character.skeleton.len(), 2);
    assert_eq!(character.parts[0].morphs.len(), 1);
    assert!(character.problems.is_empty());
}

#[test]
fn truncated_at_any_byte() {
    let (json, bin) = small();
    let whole = glb(&json, &bin);
    for length in 0..whole.len() {
        assert!(read(&whole[..length]).is_err(), "{length}");
    }
    assert!(matches!(
        read(&whole[..whole.len() - 1]),
        Err(FormatError::Truncated { .. })
    ));
}

#[test]
fn indices_out_of_range() {
    let (json, mut bin) = small();
    bin[176] = 99;
    assert!(matches!(
        read(&glb(&json, &bin)),
        Err(FormatError::Invalid { .. })
    ));
    for path in [
        "/nodes/2/mesh",
        "/nodes/2/skin",
        "/skins/0/joints/0",
        "/meshes/0/primitives/0/indices",
        "/accessors/0/bufferView",
        "/nodes/0/children/0",
        "/bufferViews/0/buffer",
    ] {
        let error = broken(|json| *json.pointer_mut(path).unwrap() = json!(77));
        assert!(
            matches!(error, FormatError::Invalid { .. }),
            "{path}: {error}"
        );
    }
    let (json, mut bin) = small();
    bin[160] = 5; // a slot the skin does not have
    assert!(matches!(
        read(&glb(&json, &bin)),
        Err(FormatError::Invalid { .. })
    ));
}

#[test]
fn positions_that_are_not_numbers() {
    let (json, mut bin) = small();
    bin[0..4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(
        read(&glb(&json, &bin)),
        Err(FormatError::NotFinite { .. })
    ));
    let error = broken(|json| json["nodes"][1]["translation"] = json!([1e300, 0, 0]));
    assert!(matches!(error, FormatError::NotFinite { .. }), "{error}");
}

#[test]
fn cycles() {
    let error =
        broken(|json| json["nodes"] = json!([{"children": [1]}, {"children": [0]}, {"mesh": 0}]));
    assert!(matches!(error, FormatError::Skeleton(_)), "{error}");
    let error = broken(|json| json["nodes"][1]["children"] = json!([1]));
    assert!(
        matches!(
            error,
            FormatError::Invalid { .. } | FormatError::Skeleton(_)
        ),
        "{error}"
    );
}

#[test]
fn missing_buffers() {
    let error = broken(|json| json["buffers"][0]["uri"] = json!("elsewhere.bin"));
    assert!(matches!(error, FormatError::Invalid { .. }), "{error}");
    let error = broken(|json| json["buffers"][0]["byteLength"] = json!(10_000));
    assert!(matches!(error, FormatError::Truncated { .. }), "{error}");
    let error = broken(|json| json["bufferViews"][0]["byteLength"] = json!(u64::MAX));
    assert!(matches!(error, FormatError::Truncated { .. }), "{error}");
}

#[test]
fn counts_that_exceed_memory() {
    for count in [1u64 << 31, 1 << 40, u64::MAX] {
        let error = broken(|json| json["accessors"][0]["count"] = json!(count));
        assert!(
            matches!(
                error,
                FormatError::Truncated { .. } | FormatError::Invalid { .. }
            ),
            "{error}"
        );
        let error = broken(|json| {
            json["accessors"][0] = json!({"componentType": 5126, "count": count, "type": "VEC3"});
        });
        assert!(matches!(error, FormatError::Invalid { .. }), "{error}");
    }
}

#[test]
fn damaged_compression_is_an_error() {
    for (name, extension) in [
        (
            "KHR_meshopt_compression",
            json!({"buffer": 0, "byteLength": 8, "byteStride": 4, "count": 9, "mode": "ATTRIBUTES"}),
        ),
        (
            "EXT_meshopt_compression",
            json!({"buffer": 0, "byteLength": 8, "byteStride": 4, "count": u32::MAX, "mode": "TRIANGLES"}),
        ),
        ("EXT_meshopt_compression", json!({"buffer": 9})),
    ] {
        let error =
            broken(|json| json["bufferViews"][0]["extensions"] = json!({ name: extension }));
        let text = error.to_string();
        assert!(text.contains(name) || text.contains("buffer"), "{text}");
    }
    let draco =
        json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}});
    let error = broken(|json| json["meshes"][0]["primitives"][0]["extensions"] = draco.clone());
    assert!(error.to_string().contains("KHR_draco"), "{error}");
}

#[test]
fn other_versions_are_refused() {
    let error = broken(|json| json["asset"]["version"] = json!("1.0"));
    assert!(matches!(error, FormatError::Unsupported(_)));
}

#[test]
fn an_empty_document() {
    let bytes = glb(&json!({"asset": {"version": "2.0"}}), &[]);
    assert!(matches!(read(&bytes), Err(FormatError::Empty(_))));
    assert!(read(b"").is_err());
    assert!(read(b"[]").is_err());
}

/// Textures that cannot be shown do not make a file unreadable; they are named.
#[test]
fn images_that_cannot_be_shown_are_noted() {
    for (image, told) in [
        (json!({"uri": "nowhere.png"}), "missing"),
        (
            json!({"uri": "data:image/bmp;base64,Qk0kAAAAAAAAAAAA"}),
            "neither PNG, JPEG nor WebP",
        ),
    ] {
        let (mut json, bin) = small();
        json["images"] = json!([image]);
        json["textures"] = json!([{"source": 0}]);
        let looks = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
        json["materials"] = json!([looks, looks]);
        let character = read(&glb(&json, &bin)).unwrap();
        let about = |problem: &&Problem| problem.place == "images[0]";
        let notes: Vec<_> = character.problems.iter().filter(about).collect();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].text.contains(told), "{notes:?}");
    }
}

#[test]
fn unusual_but_readable_files() {
    let (mut json, bin) = small();
    json["accessors"][0]["sparse"] = json!({
        "count": 1,
        "indices": {"bufferView": 3, "componentType": 5121},
        "values": {"bufferView": 2},
    });
    let character = read(&glb(&json, &bin)).unwrap();
    assert_eq!(
        character.parts[0].mesh.positions[0],
        glam::Vec3::new(0.0, 0.0, 0.1)
    );

    let (mut json, bin) = small();
    json["meshes"][0]["primitives"][0]["mode"] = json!(5);
    let strip = read(&glb(&json, &bin)).unwrap();
    // Corners 0 1 2 0 2 3: the third triangle is degenerate (a stitch); every other one is reversed.
    let expected = [[0, 1, 2], [2, 1, 0], [2, 0, 3]];
    assert_eq!(strip.parts[0].mesh.triangles, expected);
    json["meshes"][0]["primitives"][0]["mode"] = json!(6);
    let fan = read(&glb(&json, &bin)).unwrap();
    assert_eq!(fan.parts[0].mesh.triangles, [[0, 1, 2], [0, 2, 3]]);

    let (mut json, bin) = small();
    json["nodes"][2].as_object_mut().unwrap().remove("skin");
    json["nodes"][2]["translation"] = json!([0, 3, 0]);
    let rigid = read(&glb(&json, &bin)).unwrap();
    let binding = &rigid.parts[0].binding;
    assert_eq!(binding.joints.len(), 1);
    assert_eq!(rigid.skeleton.joints()[binding.joints[0]].name, "skin");
}

#[test]
fn hidden_meshes_are_not_parts() {
    let (mut json, bin) = small();
    let nodes = json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({"name": "spare", "mesh": 0, "skin": 0}));
    let shown = read(&glb(&json, &bin)).unwrap();
    assert_eq!(shown.parts.len(), 1);
    // A scene without a mesh shows nothing, so the other scenes count.
    json["scenes"] = json!([{"nodes": [1]}, {"nodes": [3]}]);
    assert_eq!(read(&glb(&json, &bin)).unwrap().parts.len(), 1);
    json["scenes"] = json!([]);
    json.as_object_mut().unwrap().remove("scene");
    assert_eq!(read(&glb(&json, &bin)).unwrap().parts.len(), 2);
}

/// Two scenes with a character each: joints of the other scene are not bones of this one.
#[test]
fn hidden_joints_are_not_bones() {
    let (mut json, bin) = small();
    let nodes = json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({"name": "other", "children": [4, 5]}));
    nodes.push(json!({"name": "bone"}));
    nodes.push(json!({"name": "skin", "mesh": 0, "skin": 1}));
    json["skins"] = json!([{"joints": [1]}, {"joints": [4]}]);
    json["scenes"] = json!([{"nodes": [0]}, {"nodes": [3]}]);
    for (scene, root) in [(0, "root"), (1, "other")] {
        json["scene"] = json!(scene);
        let shown = read(&glb(&json, &bin)).unwrap();
        let names: Vec<&str> = shown
            .skeleton
            .joints()
            .iter()
            .map(|j| j.name.as_str())
            .collect();
        assert_eq!(names, [root, "bone"]);
    }
    // Without a mesh, all skins count: a file may hold a skeleton alone.
    json["scene"] = json!(0);
    json.as_object_mut().unwrap().remove("meshes");
    for node in json["nodes"].as_array_mut().unwrap() {
        node.as_object_mut().unwrap().remove("mesh");
    }
    assert_eq!(read(&glb(&json, &bin)).unwrap().skeleton.len(), 4);
}

#[test]
fn a_skin_without_weights_gets_them_later() {
    let (mut json, bin) = small();
    let attributes = &mut json["meshes"][0]["primitives"][0]["attributes"];
    *attributes = json!({"POSITION": 0});
    let options = ReadOptions {
        up: Some(supple_rig::character::Up::Z),
        ..ReadOptions::default()
    };
    let character = read_glb(&glb(&json, &bin), &options).unwrap();
    assert!(character.parts[0].binding.influences.is_empty());
    assert!(character.problems[0].text.contains("no skin weights"));
    let low = character.parts[0].mesh.bounds().min;
    assert!(low.abs_diff_eq(-glam::Vec3::Z, 1e-6), "{low}");
}
