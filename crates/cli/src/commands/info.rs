//! `supple info`

use crate::args;
use crate::console::{Console, Failure};

/// Lists the contents of a file.
pub fn run(args: &args::Info, console: &Console) -> Result<(), Failure> {
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
    console.result(text, &info);
    Ok(())
}
