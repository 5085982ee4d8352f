//! Makes the embedded bones from a folder of meshes: `bone_asset FOLDER OUT.bin`.

use std::path::Path;

use supple_anatomy::bones::asset::encoded;
use supple_anatomy::bones::read_bone_files;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, out] = args.as_slice() else {
        return Err("usage: bone_asset FOLDER OUT.bin".into());
    };
    let files = read_bone_files(Path::new(folder))?;
    let bytes = encoded(&files);
    println!(
        "{} bones, {} joints, {} bytes",
        files.0.len(),
        files.1.len(),
        bytes.len()
    );
    std::fs::write(out, bytes)?;
    Ok(())
}
