//! `supple rig`

use supple::rig::formats;
use supple::rig::rigging::{fitted, rest_mesh, with_skeleton};
use supple::rig::skeleton_templates::{Template, template};
use supple::skin::bind_missing;

use crate::args;
use crate::console::{Console, Failure};
use crate::output::check_keeps;

/// Writes a mesh with a new skeleton.
pub fn run(args: &args::Rig, console: &Console) -> Result<(), Failure> {
    let read = [
        Some(args.input.file.as_path()),
        args.input.skeleton.as_deref(),
    ];
    check_keeps(&args.output, &read, args.force)?;
    let bare = super::load(&args.input)?.into_character();
    if bare.parts.is_empty() {
        let text = format!("{} has no mesh to rig", args.input.file.display());
        return Err(Failure::new(text, ""));
    }
    let mut character = match (&args.template, &args.input.skeleton) {
        (Some(kind), _) => {
            let kind = match kind {
                args::Template::Humanoid => Template::Humanoid,
                args::Template::Quadruped => Template::Quadruped,
            };
            with_skeleton(&bare, template(&rest_mesh(&bare), kind))
        }
        (None, Some(_)) if args.markers.is_empty() => bare,
        (None, _) => {
            let markers = args.markers.iter().copied().collect();
            fitted(&bare, &markers).map_err(|error| Failure {
                error: Box::new(error),
                hint: "`supple rig FILE --marker wrist.L=0.7,1.4,0` places a marker, in metres with Y up; `--template` starts from a skeleton in the mesh's box, to edit in `supple view`".to_owned(),
            })?
        }
    };
    bind_missing(&mut character, false)?;
    formats::save_character(&args.output, &character)?;
    let path = args.output.display().to_string();
    let joints = character.skeleton.len();
    console.result(
        format!("wrote {path}: {joints} joints"),
        &serde_json::json!({ "output": path, "joints": joints }),
    );
    Ok(())
}
