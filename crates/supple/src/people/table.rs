//! All measures of all people as one table.

use std::fmt::Write;

use supple_anatomy::Sex;
use supple_anatomy::composition::population::Quantity;
use supple_anatomy::person::PersonInfo;

use super::Record;

/// Columns of numbers: a name with its unit, digits after the point, and the value.
type Column = (&'static str, usize, fn(&PersonInfo) -> f64);
const COLUMNS: [Column; 37] = [
    ("sex_confidence", 3, |p| p.registration.sex_confidence),
    ("confidence", 3, |p| p.registration.confidence),
    ("scan_rms_mm", 2, |p| 1e3 * p.registration.distances.rms),
    ("scan_p95_mm", 2, |p| {
        1e3 * p.registration.distances.percentile_95
    }),
    ("covered_percent", 1, |p| {
        100.0 * p.registration.coverage.whole
    }),
    ("height_cm", 1, |p| 100.0 * p.composition.height),
    ("weight_kg", 2, |p| p.composition.weight.value),
    ("weight_sd_kg", 2, |p| p.composition.weight.error),
    ("body_mass_index", 2, |p| p.composition.body_mass_index),
    ("fat_kg", 2, |p| p.composition.fat_mass.value),
    ("fat_sd_kg", 2, |p| p.composition.fat_mass.error),
    ("fat_percent", 2, |p| p.composition.fat_percent.value),
    ("fat_sd_percent", 2, |p| p.composition.fat_percent.error),
    ("muscle_kg", 2, |p| p.composition.muscle_mass.value),
    ("muscle_sd_kg", 2, |p| p.composition.muscle_mass.error),
    ("layers_fat_kg", 2, |p| p.fit.masses.fat),
    ("layers_muscle_kg", 2, |p| p.fit.masses.muscle),
    ("volume_l", 2, |p| 1e3 * p.measures.volume),
    ("surface_m2", 3, |p| p.measures.surface),
    ("waist_cm", 1, |p| 100.0 * p.measures.waist),
    ("hip_cm", 1, |p| 100.0 * p.measures.hip),
    ("chest_cm", 1, |p| 100.0 * p.measures.chest),
    ("neck_cm", 1, |p| 100.0 * p.measures.neck),
    ("thigh_cm", 1, |p| 100.0 * p.measures.thigh),
    ("calf_cm", 1, |p| 100.0 * p.measures.calf),
    ("ankle_cm", 1, |p| 100.0 * p.measures.ankle),
    ("upper_arm_cm", 1, |p| 100.0 * p.measures.upper_arm),
    ("forearm_cm", 1, |p| 100.0 * p.measures.forearm),
    ("wrist_cm", 1, |p| 100.0 * p.measures.wrist),
    ("crotch_height_cm", 1, |p| 100.0 * p.measures.crotch_height),
    ("upper_arm_length_cm", 1, |p| {
        100.0 * p.measures.segments.upper_arm
    }),
    ("forearm_length_cm", 1, |p| {
        100.0 * p.measures.segments.forearm
    }),
    ("thigh_length_cm", 1, |p| 100.0 * p.measures.segments.thigh),
    ("shin_length_cm", 1, |p| 100.0 * p.measures.segments.shin),
    ("trunk_length_cm", 1, |p| 100.0 * p.measures.segments.trunk),
    ("shoulder_width_cm", 1, |p| {
        100.0 * p.measures.segments.shoulders
    }),
    ("outside_or_inverted", 0, |p| {
        let layers = &p.fit.layers;
        (layers.muscle_outside
            + layers.skeleton_outside
            + layers.inverted_fat
            + layers.inverted_muscle) as f64
    }),
];

/// The table: a line for each scan, refused ones with their reason at the end.
pub fn people_csv(records: &[Record]) -> String {
    let people = || records.iter().filter_map(|record| record.person.as_ref());
    let places = people()
        .next()
        .map_or(0, |p| p.composition.percentiles.len());
    let mut text = String::from("name,scan,sex");
    for (name, ..) in COLUMNS {
        text.push(',');
        text.push_str(name);
    }
    if let Some(person) = people().next() {
        for place in &person.composition.percentiles {
            let what = match place.quantity {
                Quantity::FatPercent => "fat",
                Quantity::MuscleMass => "muscle",
            };
            let column = format!("{what} percentile among {}", place.population);
            // Writing to a string cannot fail.
            let _ = write!(text, ",{}", quoted(&column));
        }
    }
    text.push_str(",notes,refused\n");
    for record in records {
        let _ = write!(text, "{},{}", quoted(&record.name), quoted(&record.scan));
        match &record.person {
            Some(person) => {
                text.push_str(match person.sex {
                    Sex::Male => ",male",
                    Sex::Female => ",female",
                });
                for (_, digits, value) in COLUMNS {
                    let _ = write!(text, ",{:.digits$}", value(person));
                }
                for place in person.composition.percentiles.iter().take(places) {
                    let _ = write!(text, ",{:.1}", place.percentile);
                }
                let notes: Vec<&str> = (person.registration.warnings.iter())
                    .chain(&person.composition.notes)
                    .map(String::as_str)
                    .collect();
                let _ = write!(text, ",{}", quoted(&notes.join("; ")));
            }
            None => text.push_str(&",".repeat(COLUMNS.len() + places + 2)),
        }
        let refused = record.refused.as_deref().unwrap_or_default();
        let _ = writeln!(text, ",{}", quoted(refused));
    }
    text
}

/// A cell as RFC 4180 wants it.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_scan_has_as_many_cells_as_the_header() {
        let record = Record {
            name: "a".to_owned(),
            scan: "x, \"y\".ply".to_owned(),
            key: String::new(),
            person: None,
            refused: Some("no person".to_owned()),
        };
        let text = people_csv(&[record]);
        let mut lines = text.lines();
        let header = lines.next().unwrap().matches(',').count();
        let row = lines.next().unwrap();
        assert!(row.starts_with("a,\"x, \"\"y\"\".ply\","), "{row}");
        assert_eq!(row.matches(',').count() - 1, header, "{row}");
        assert!(row.ends_with(",no person"));
    }
}
