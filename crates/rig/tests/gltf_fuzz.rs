//! Mutated glTF files cause no panic, hang or unbounded memory use. `SUPPLE_FUZZ_SECONDS` sets the duration.

mod gltf_common;

use std::time::{Duration, Instant};

use gltf_common::{FILES, glb, shared, small, split};
use serde_json::{Value, json};
use supple_rig::bake::{Motion, bake_frames};
use supple_rig::formats::ReadOptions;
use supple_rig::formats::gltf::{read_glb, write_glb};
use supple_rig::{Character, Pose};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// A random value somewhere in the tree.
fn pick<'a>(mut value: &'a mut Value, random: &mut Random) -> &'a mut Value {
    loop {
        let stop = random.below(12) == 0;
        let children = match &*value {
            Value::Array(items) => items.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        };
        if children == 0 || stop {
            return value;
        }
        let index = random.below(children);
        value = match value {
            Value::Array(items) => &mut items[index],
            Value::Object(map) => map.iter_mut().nth(index).unwrap().1,
            _ => unreachable!(),
        };
    }
}

fn strange(random: &mut Random) -> Value {
    match random.below(14) {
        0 => json!(0),
        1 => json!(-1),
        2 => json!(u64::MAX),
        3 => json!(1u64 << 31),
        4 => json!(1e300),
        5 => json!(random.below(300)),
        6 => json!(0.5),
        7 => Value::Null,
        8 => json!(""),
        9 => json!([]),
        10 => json!({}),
        11 => json!([0, 0, 0, 0]),
        12 => json!(true),
        _ => json!(random.below(8)),
    }
}

fn mutate(json: &Value, bin: &[u8], random: &mut Random) -> Vec<u8> {
    let mut json = json.clone();
    let mut bin = bin.to_vec();
    for _ in 0..random.below(3) {
        let other = pick(&mut json, random).clone();
        let target = pick(&mut json, random);
        match random.below(4) {
            0 => *target = other,
            1 => {
                if let Value::Object(map) = target
                    && let Some(key) = map.keys().nth(random.below(map.len())).cloned()
                {
                    map.shift_remove(&key);
                }
            }
            _ => *target = strange(random),
        }
    }
    for _ in 0..random.below(4) {
        if !bin.is_empty() {
            let at = random.below(bin.len());
            bin[at] = random.next() as u8;
        }
    }
    let mut bytes = glb(&json, &bin);
    match random.below(6) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        _ => {}
    }
    bytes
}

/// Exercises a file that could be read.
fn exercise(character: &mut Character) {
    let _ = write_glb(character);
    let vertices: usize = character
        .parts
        .iter()
        .map(|part| part.mesh.positions.len())
        .sum();
    if vertices > 5000 {
        return;
    }
    let rest = Pose::rest(&character.skeleton);
    let frame: Vec<_> = character
        .parts
        .iter()
        .map(|part| part.mesh.positions.clone())
        .collect();
    let motion = Motion {
        fps: 30.0,
        frames: vec![frame; 2].into(),
        poses: vec![rest; 2],
        ..Motion::default()
    };
    if let Ok((bytes, _)) = bake_frames(character, &motion, "fuzz") {
        read_glb(&bytes, &ReadOptions::default()).expect("a written file can be read");
    }
    character.source = supple_rig::formats::Source::None;
    let _ = write_glb(character);
}

#[test]
fn mutated_files_are_handled() {
    let seconds = std::env::var("SUPPLE_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2);
    // Compressed streams are many branches: they are tried often, and their data change more than their JSON.
    let packed = [
        &include_bytes!("fixtures/compressed/tube_filtered.glb")[..],
        include_bytes!("fixtures/compressed/tube_meshopt_v1.glb"),
        include_bytes!("fixtures/compressed/tube_draco.glb"),
        include_bytes!("fixtures/compressed/tube_draco_sequential.glb"),
    ];
    let mut files = vec![small()];
    files.extend(packed.map(split));
    files.extend(
        FILES[2..]
            .iter()
            .filter_map(|name| shared(name))
            .map(|bytes| split(&bytes)),
    );
    let mut random = Random(0x5EED_CAFE);
    let start = Instant::now();
    let (mut tried, mut readable) = (0, 0);
    while start.elapsed() < Duration::from_secs(seconds) {
        // Mostly the small file: a hundred mutants of it for one of a large file.
        let file = match random.below(10) {
            0 => random.below(files.len()),
            1..=4 => 1 + random.below(packed.len()),
            _ => 0,
        };
        let (json, bin) = &files[file];
        let bytes = mutate(json, bin, &mut random);
        let one = Instant::now();
        tried += 1;
        if let Ok(mut character) = read_glb(&bytes, &ReadOptions::default()) {
            readable += 1;
            exercise(&mut character);
        }
        assert!(
            one.elapsed() < Duration::from_secs(20),
            "a mutant took {:?}",
            one.elapsed()
        );
    }
    println!("{tried} mutants, {readable} readable");
    assert!(tried > readable && readable > 0);
}
