//! `supple info`

use supple::flesh::shells::shell_kinds::shell_kinds;

use crate::args;
use crate::console::{Console, Failure};
use crate::hints::remedy;

/// Lists the contents of a file.
pub fn run(args: &args::Info, console: &Console) -> Result<(), Failure> {
    let character = super::load(&args.input)?;
    match (character.person(), character.body()) {
        (Some(person), _) if !args.joints && !args.shells => {
            let info = supple::person::person_info(person);
            console.result(&info, &info);
            return Ok(());
        }
        (None, Some(template)) => {
            let info = supple::anatomy::template::info::template_info(template);
            console.result(&info, &info);
            return Ok(());
        }
        _ => {}
    }
    let mut info = supple::info::info(&character);
    for problem in &mut info.problems {
        problem.text.push_str(remedy(problem.remedy));
    }
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
