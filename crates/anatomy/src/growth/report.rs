//! What growth did, in words.

use std::fmt;

use super::GrowthReport;

impl fmt::Display for GrowthReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, name: &str, [a, b]: [f64; 2], unit: &str| {
            // Without the sign of what is rounded to zero.
            let [a, b, change] = [a, b, b - a].map(|x| (10.0 * x).round() / 10.0 + 0.0);
            writeln!(f, "{name:<10} {a:6.1} → {b:6.1}{unit} ({change:+.1})")
        };
        line(f, "weight", self.weight, " kg")?;
        line(f, "fat", self.fat, " kg")?;
        line(f, "  visceral", self.visceral, " kg")?;
        line(f, "muscle", self.muscle, " kg")?;
        line(f, "BMI", self.body_mass_index, "")?;
        let [fat, muscle] = [(self.asked, "fat"), (self.asked_muscle, "muscle")]
            .map(|([asked, got], of)| format!("{asked:+.2} kg of {of}, got {got:+.2} kg"));
        match (self.asked[0] != 0.0, self.asked_muscle[0] != 0.0) {
            (true, true) => writeln!(f, "asked {fat}; {muscle}")?,
            (false, true) => writeln!(f, "asked {muscle}")?,
            _ => writeln!(f, "asked {fat}")?,
        }
        let layers = &self.layers;
        writeln!(
            f,
            "{} inverted prisms, {} vertices outside, {} crossing triangles ({} before)",
            layers.inverted_fat + layers.inverted_muscle,
            layers.muscle_outside + layers.skeleton_outside,
            self.crossings[1],
            self.crossings[0]
        )?;
        let seconds: f64 = self.seconds.iter().map(|(_, s)| s).sum();
        write!(f, "{} steps, {seconds:.1} s", self.steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_told() {
        let report = GrowthReport {
            asked: [0.0, 0.0],
            asked_muscle: [4.0, 3.98],
            ..GrowthReport::default()
        };
        let text = report.to_string();
        assert!(
            text.contains("asked +4.00 kg of muscle, got +3.98 kg"),
            "{text}"
        );
        let both = GrowthReport {
            asked: [8.0, 8.01],
            ..report
        };
        let text = both.to_string();
        assert!(
            text.contains("asked +8.00 kg of fat, got +8.01 kg; +4.00 kg of muscle"),
            "{text}"
        );
    }
}
