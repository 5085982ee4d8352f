//! `supple composition`

use std::fmt::Write;

use supple::anatomy::composition::{Regressors, fit_regressors, read_table};
use supple::rig::formats::save;

use crate::args::{self, CompositionCommand};
use crate::console::{Console, Failure};
use crate::output::check_file;

/// Fits models of fat mass.
pub fn run(args: &args::Composition, console: &Console) -> Result<(), Failure> {
    let CompositionCommand::Fit(args) = &args.what;
    check_file(&args.output)?;
    args.report.as_deref().map_or(Ok(()), check_file)?;
    let text = super::read_text(&args.table)?;
    let source = (args.source.clone()).unwrap_or_else(|| super::stem(&args.table));
    let fitted = read_table(&text).and_then(|people| fit_regressors(&people, &source));
    let regressors =
        fitted.map_err(|error| Failure::new(format!("{}: {error}", args.table.display()), ""))?;
    save(&args.output, regressors.to_toml().as_bytes())?;
    if let Some(path) = &args.report {
        save(path, serde_json::to_string_pretty(&regressors)?.as_bytes())?;
    }
    let path = args.output.display();
    let mut value = serde_json::to_value(&regressors)?;
    value["output"] = path.to_string().into();
    console.result(format!("{}\nwrote {path}", table(&regressors)), &value);
    Ok(())
}

/// Errors of all models, cross-validated.
fn table(regressors: &Regressors) -> String {
    let mut text = format!(
        "fat mass of {}, errors by 20-fold cross-validation\n  {:<8} {:<30} {:>7} {:>8} {:>6}",
        regressors.source, "sex", "from", "MAE kg", "SD kg", "R²"
    );
    for (name, sex) in [("women", &regressors.female), ("men", &regressors.male)] {
        for (number, model) in sex.models.iter().enumerate() {
            let who = match number {
                0 => format!("{} {name}", sex.people),
                _ => String::new(),
            };
            let from: Vec<String> = (model.predictors.iter())
                .map(|predictor| format!("{predictor:?}").to_lowercase())
                .collect();
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n  {who:<8} {:<30} {:>7.2} {:>8.2} {:>6.3}",
                from.join(", "),
                model.mean_error,
                model.deviation,
                model.r_squared
            );
        }
    }
    text
}
