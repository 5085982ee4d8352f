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
        let [asked, got] = self.asked;
        writeln!(f, "asked {asked:+.2} kg, got {got:+.2} kg")?;
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
