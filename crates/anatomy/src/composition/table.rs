//! Tables of measured people: CSV with a header.

use crate::Sex;

/// An adult whose fat was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredAdult {
    /// Sex.
    pub sex: Sex,
    /// Age \[years\].
    pub age: f64,
    /// Height \[m\].
    pub height: f64,
    /// Weight \[kg\].
    pub weight: f64,
    /// Waist circumference \[m\].
    pub waist: f64,
    /// Fat mass \[kg\].
    pub fat_mass: f64,
}

/// Why a table cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A column is missing.
    #[error(
        "the table has no column '{column}'; its first line must name sex, age, height_cm, weight_kg, waist_cm and fat_percent"
    )]
    NoColumn {
        /// Name of the column.
        column: &'static str,
    },
    /// The table is not CSV.
    #[error("the table cannot be read: {reason}")]
    Unreadable {
        /// What is wrong, and where.
        reason: String,
    },
    /// A value is not a number, or not a plausible one.
    #[error(
        "line {line}: '{value}' is not a valid {column}; leave the cell empty if it is unknown"
    )]
    Value {
        /// Line of the file, from 1.
        line: usize,
        /// Name of the column.
        column: &'static str,
        /// What stands there.
        value: String,
    },
    /// Too few people.
    #[error(
        "only {count} {sex} adults with all values; at least {least} are needed to fit and to cross-validate"
    )]
    TooFew {
        /// Their sex.
        sex: &'static str,
        /// People with all values.
        count: usize,
        /// People needed.
        least: usize,
    },
    /// Columns that depend on each other.
    #[error(
        "the measures of the {sex} adults depend on each other linearly; nothing can be fitted to them"
    )]
    Singular {
        /// Their sex.
        sex: &'static str,
    },
}

/// Columns and what is plausible in them.
const COLUMNS: [(&str, f64, f64); 5] = [
    ("age", 0.0, 130.0),
    ("height_cm", 50.0, 280.0),
    ("weight_kg", 10.0, 500.0),
    ("waist_cm", 20.0, 300.0),
    ("fat_percent", 0.0, 90.0),
];

/// Reads a table with the columns `sex`, `age` \[years\], `height_cm`, `weight_kg`, `waist_cm` and `fat_percent`, in any order;
/// further columns are ignored. Rows with an empty cell among these are left out.
pub fn read_table(csv: &str) -> Result<Vec<MeasuredAdult>, TableError> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(csv.trim_start_matches('\u{feff}').as_bytes());
    let unreadable = |error: csv::Error| TableError::Unreadable {
        reason: error.to_string(),
    };
    let header = reader.headers().map_err(unreadable)?.clone();
    let find = |column: &'static str| {
        (header.iter().position(|cell| cell == column)).ok_or(TableError::NoColumn { column })
    };
    let sex_column = find("sex")?;
    let mut columns = [0; COLUMNS.len()];
    for (place, (name, ..)) in columns.iter_mut().zip(COLUMNS) {
        *place = find(name)?;
    }
    let mut people = Vec::new();
    for row in reader.records() {
        let row = row.map_err(unreadable)?;
        let cell = |column: usize| row.get(column).unwrap_or_default();
        let line = row.position().map_or(0, |at| at.line() as usize);
        let sex = match cell(sex_column) {
            "" => continue,
            "male" => Sex::Male,
            "female" => Sex::Female,
            other => {
                return Err(TableError::Value {
                    line,
                    column: "sex",
                    value: other.to_owned(),
                });
            }
        };
        let mut values = [0.0; COLUMNS.len()];
        let mut complete = true;
        for ((value, place), (column, least, largest)) in
            values.iter_mut().zip(columns).zip(COLUMNS)
        {
            let text = cell(place);
            if text.is_empty() {
                complete = false;
                continue;
            }
            *value = (text.parse().ok())
                .filter(|x: &f64| (least..=largest).contains(x))
                .ok_or_else(|| TableError::Value {
                    line,
                    column,
                    value: text.to_owned(),
                })?;
        }
        let [age, height, weight, waist, percent] = values;
        if complete {
            people.push(MeasuredAdult {
                sex,
                age,
                height: height / 100.0,
                weight,
                waist: waist / 100.0,
                fat_mass: percent * weight / 100.0,
            });
        }
    }
    Ok(people)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "waist_cm,sex,age,height_cm,weight_kg,fat_percent,more\n";

    #[test]
    fn columns_in_any_order_and_gaps_left_out() {
        let csv = format!(
            "{HEADER}90,male,40,180,80,20,x\n,male,40,180,80,20,x\n\n70,female,30,165,60,30\n"
        );
        let people = read_table(&csv).unwrap();
        assert_eq!(people.len(), 2);
        assert_eq!(people[0].fat_mass, 16.0);
        assert_eq!((people[1].sex, people[1].waist), (Sex::Female, 0.7));
    }

    #[test]
    fn quoted_cells_may_hold_commas_and_lines() {
        let csv = "name,sex,age,height_cm,weight_kg,waist_cm,fat_percent\n\"Doe, \"\"J\"\"\n\",male,40,180,80,90,20\nx,boy,40,180,80,90,20\n";
        assert_eq!(
            read_table(&csv[..csv.find("x,boy").unwrap()])
                .unwrap()
                .len(),
            1
        );
        let error = read_table(csv).unwrap_err();
        assert!(
            matches!(error, TableError::Value { line: 4, .. }),
            "{error}"
        );
    }

    #[test]
    fn bad_tables_say_where() {
        let bad =
            |row: &str| read_table(&format!("{HEADER}90,male,40,180,80,20\n{row}\n")).unwrap_err();
        let value = |line, column, value: &str| TableError::Value {
            line,
            column,
            value: value.to_owned(),
        };
        assert_eq!(bad("90,boy,40,180,80,20"), value(3, "sex", "boy"));
        assert_eq!(bad("90,male,40,1.8,80,20"), value(3, "height_cm", "1.8"));
        assert_eq!(bad("90,male,40,180,NaN,20"), value(3, "weight_kg", "NaN"));
        let missing = read_table("sex,age\n").unwrap_err();
        assert_eq!(
            missing,
            TableError::NoColumn {
                column: "height_cm"
            }
        );
        assert!(read_table("").is_err());
    }
}
