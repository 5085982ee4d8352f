//! Places bones in a body and writes them as PLY files: `place_bones BODY.glb male|female BONES_FOLDER OUT_FOLDER`.

use std::path::Path;

use supple_anatomy::bones::{place_bones, read_bones};
use supple_anatomy::{Body, Sex};
use supple_rig::formats::ply::write_ply;
use supple_rig::formats::{ReadOptions, load, save};
use supple_rig::{Character, Part};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [body, sex, bones, out] = args.as_slice() else {
        return Err("usage: place_bones BODY.glb male|female BONES_FOLDER OUT_FOLDER".into());
    };
    let sex = if sex == "female" {
        Sex::Female
    } else {
        Sex::Male
    };
    let body = Body::from_character(&load(Path::new(body), &ReadOptions::default())?, sex)?;
    let started = std::time::Instant::now();
    let set = read_bones(Path::new(bones))?;
    for note in &set.notes {
        println!("{note}");
    }
    println!("read in {:.2} s", started.elapsed().as_secs_f64());
    let started = std::time::Instant::now();
    let placed = place_bones(&set, &body)?;
    println!("placed in {:.2} s", started.elapsed().as_secs_f64());
    let report = &placed.report;
    println!("size {:.3}", report.size);
    for (region, count) in &report.outside {
        println!("{region:?}: {count:?}");
    }
    for (joint, gap) in report.gaps.iter().filter(|(_, gap)| **gap > 0.003) {
        println!("gap {joint}: {:.1} mm", gap * 1e3);
    }
    println!("outside {:?}", report.outside_bones);
    println!("pushed {:.4?}", report.pushed);
    let worst = report.centre_gaps.iter().max_by(|a, b| a.1.total_cmp(b.1));
    println!("widest centre gap {worst:?}");
    for (segment, scales) in &report.scales {
        if scales
            .iter()
            .any(|s| (s - 1.0).abs() > 0.08 || segment == "pelvis")
            && !segment.ends_with("_r")
        {
            println!("scales {segment}: {scales:.2?}");
        }
    }
    std::fs::create_dir_all(out)?;
    for bone in placed.bones {
        let part = Part {
            mesh: bone.mesh,
            ..Part::default()
        };
        let character = Character {
            parts: vec![part],
            ..Character::default()
        };
        save(
            &Path::new(out).join(format!("{}.ply", bone.name)),
            &write_ply(&character),
        )?;
    }
    Ok(())
}
