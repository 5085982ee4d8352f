//! What came of one scan: the file beside every person.

use std::path::Path;

use serde::{Deserialize, Serialize};
use supple_anatomy::person::PersonInfo;

use super::Task;
use crate::person::PersonOptions;

/// What came of one scan. Times are left out, so that the same scan gives the same record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Name of the results.
    pub name: String,
    /// The scan's file.
    pub scan: String,
    /// Size of the scan and everything else the result depends on; another key means that it has to be done again.
    pub key: String,
    /// The person in numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonInfo>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Record {
    /// Of a scan that is still to be done.
    pub fn new(task: &Task, options: &PersonOptions) -> Self {
        Record {
            name: task.name.clone(),
            scan: task.scan.display().to_string(),
            key: key(task, options),
            person: None,
            refused: None,
        }
    }

    /// Reads a record and checks that it is of this task and complete.
    pub fn finished(&self, folder: &Path) -> Option<Record> {
        let text = std::fs::read_to_string(folder.join(format!("{}.json", self.name))).ok()?;
        let found: Record = serde_json::from_str(&text).ok()?;
        let is_there = || {
            let person = folder.join(format!("{}.person", self.name));
            found.person.is_some() && person.is_file()
        };
        (found.key == self.key && (found.refused.is_some() || is_there())).then_some(found)
    }

    /// As the text of its file.
    pub fn to_json(&self) -> String {
        // Plain numbers and strings always have a JSON form.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn key(task: &Task, options: &PersonOptions) -> String {
    let bytes = std::fs::metadata(&task.scan).map_or(0, |data| data.len());
    let regressors = options.regressors.as_ref();
    let regressors = regressors.map_or(0, |regressors| fnv(regressors.to_toml().as_bytes()));
    let wanted = format!(
        "{:?} {:?} {:?} {:?} {:?} {regressors:x}",
        task.sex, task.given, options.scan.metres_per_unit, options.scan.up, options.population
    );
    format!(
        "{bytes} bytes, options {:016x}, Supple {}",
        fnv(wanted.as_bytes()),
        env!("CARGO_PKG_VERSION")
    )
}

/// Fowler, Noll and Vo's hash (1a, 64 bits): the same on every machine.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
