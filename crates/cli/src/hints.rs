//! What may help against an error or a problem, in options of the command line.

use std::error::Error;

use supple::anatomy::BodyError;
use supple::anatomy::person::PersonFileError;
use supple::anatomy::template::TemplateError;
use supple::flesh::FleshError;
use supple::rig::character::Remedy;
use supple::tissue::TissueError;

const NO_PERSON: &str = "`supple person SCAN` makes a person of a scan";
const NO_TEMPLATE: &str = "`supple template` makes a template";

/// What may help against an error; empty if nothing is known.
pub fn hint(error: &(dyn Error + 'static)) -> &'static str {
    if let Some(error) = error.downcast_ref::<supple::Error>() {
        return of_error(error);
    }
    if let Some(error) = error.downcast_ref::<TissueError>() {
        return of_tissue(error);
    }
    if let Some(error) = error.downcast_ref::<FleshError>() {
        return of_flesh(error);
    }
    if let Some(error) = error.downcast_ref::<BodyError>() {
        return of_body(error);
    }
    ""
}

fn of_error(error: &supple::Error) -> &'static str {
    match error {
        supple::Error::NoLayers { .. } => {
            "layers belong to @male, @female, and files that `supple person` or `supple template` wrote"
        }
        supple::Error::PersonFile { source, .. } => of_person(source),
        supple::Error::PersonBytes(error) => of_person(error),
        supple::Error::Template(TemplateError::NotATemplate) => NO_TEMPLATE,
        supple::Error::Body(error) => of_body(error),
        supple::Error::Tissue(error) => of_tissue(error),
        _ => "",
    }
}

fn of_person(error: &PersonFileError) -> &'static str {
    match error {
        PersonFileError::NotAPerson => NO_PERSON,
        _ => "",
    }
}

fn of_body(error: &BodyError) -> &'static str {
    match error {
        BodyError::NoWeights { .. } => {
            "`supple rig FILE -o OUT.glb` gives a mesh a skeleton and weights"
        }
        _ => "",
    }
}

fn of_tissue(error: &TissueError) -> &'static str {
    match error {
        TissueError::Flesh(error) | TissueError::Settings { source: error, .. } => of_flesh(error),
        _ => "",
    }
}

fn of_flesh(error: &FleshError) -> &'static str {
    match error {
        FleshError::NoSuchJoint { .. } => "`supple info FILE --joints` lists its joints",
        FleshError::NoSuchShell { .. } => "`supple info FILE --shells` lists all shells",
        _ => "",
    }
}

/// The options that mend a problem, as a sentence.
pub fn remedy(remedy: Option<Remedy>) -> &'static str {
    match remedy {
        None => "",
        Some(Remedy::Unit) => " Set it with `--unit`.",
        Some(Remedy::UnitAndUp) => " Override with `--unit` and `--up`.",
        Some(Remedy::UpZ) => " Load it with `--up z`.",
        Some(Remedy::Weights) => " Use `--auto-weights` to compute new weights.",
        Some(Remedy::Scene) => " Combine them with `supple scene`.",
    }
}
