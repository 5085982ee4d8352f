//! `supple info`

use supple::flesh::shells::shell_kinds::shell_kinds;

use crate::args;
use crate::console::{Console, Failure};

/// Lists the contents of a file.
pub fn run(args: &args::Info, console: &Console) -> Result<(), Failure> {
    if super::is_template(&args.input.file) {
        let template = supple::load_template(&args.input.file)?;
        let info = supple::anatomy::template::info::template_info(&template);
        console.result(&info, &info);
        return Ok(());
    }
    if supple::person::is_person(&args.input.file) && !args.joints && !args.shells {
        let person = supple::load_person(&args.input.file)
            .map_err(|error| super::in_file(error, &args.input.file))?;
        let info = supple::person::person_info(&person);
        console.result(&info, &info);
        return Ok(());
    }
    let character = super::load(&args.input)?;
    let info = supple::info::info(&character);
    let mut text = info.to_string();
    if args.joints {
        text.push_str("\n  joints");
        for (index, joint) in character.skeleton.joints().iter().enumerate() {
            let parent = joint
                .parent
                .map_or("root", |parent| &character.skeleton.joints()[parent].name);
            text.push_str(&format!("\n    {index}: {} < {parent}", joint.name));
        }
    }
    let mut json = serde_json::to_value(&info)?;
    if args.shells && !character.parts.is_empty() {
        let shells = shell_kinds(&character, &Default::default())?.shells;
        text.push_str("\n  shells");
        for (number, shell) in shells.iter().enumerate() {
            let (kind, reason) = (shell.kind.name(), shell.reason);
            let (key, vertices, area) = (&shell.key, shell.vertices, shell.area);
            text.push_str(&format!(
                "\n    {number}: {key}: {kind}, {reason} ({vertices} vertices, {area:.3} m²)"
            ));
        }
        json["shell_kinds"] = serde_json::to_value(&shells)?;
    }
    console.result(text, &json);
    Ok(())
}
