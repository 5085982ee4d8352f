//! `supple convert`

use supple::anatomy::person::export::save_layers;
use supple::person::Person;
use supple::rig::formats;
use supple::rig::subdivision::subdivided;

use crate::args;
use crate::console::{Console, Failure};
use crate::output::{check_folder, check_keeps};

/// Writes a file in another format.
pub fn run(args: &args::Convert, console: &Console) -> Result<(), Failure> {
    let out = &args.output;
    let subject = super::load(&args.input)?;
    if let Some(person) = subject.person()
        && (out.is_dir() || out.extension().is_none())
    {
        return export(person, args, console);
    }
    let read = [
        Some(args.input.file.as_path()),
        args.input.skeleton.as_deref(),
    ];
    check_keeps(out, &read, args.force)?;
    let mut character = subject.into_character();
    for _ in 0..args.subdivide {
        character = subdivided(&character);
    }
    formats::save_character(&args.output, &character)?;
    let path = args.output.display().to_string();
    console.result(
        format!("wrote {path}"),
        &serde_json::json!({ "output": path }),
    );
    Ok(())
}

/// Writes all layers of a person into a folder.
fn export(person: &Person, args: &args::Convert, console: &Console) -> Result<(), Failure> {
    check_folder(&args.output)?;
    let ending = match args.meshes {
        args::MeshFormat::Ply => "ply",
        args::MeshFormat::Obj => "obj",
    };
    let written = save_layers(&person.body, &args.output, ending)?;
    let folder = args.output.display();
    let files: Vec<String> = (written.iter())
        .map(|path| path.display().to_string())
        .collect();
    console.result(
        format!(
            "wrote {} files to {folder}: skin, muscle_surface, skeleton_surface, bones/, muscles/ ({ending}, metres, Y up), and tissue.vtk (fat and muscle as tets)",
            files.len()
        ),
        &serde_json::json!({ "output": folder.to_string(), "files": files }),
    );
    Ok(())
}
