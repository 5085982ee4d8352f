//! Histograms of many people, with the percentiles of populations below.

use glam::Vec3;
use supple::anatomy::Sex;
use supple::people::{Compared, Summary};
use supple_picture::text::{draw_text, text_width};
use supple_picture::{Image, hex};

const PAPER: Vec3 = hex(0xfbfaf8);
const INK: Vec3 = hex(0x33302d);
const FAINT: Vec3 = hex(0xd8d4ce);
/// Women and men.
const COLOURS: [Vec3; 2] = [hex(0xc8553d), hex(0x4e79a7)];
/// Bars of a histogram.
const BARS: usize = 16;
/// Width of one histogram, its height, and the space around it \[px\].
const PANEL: [usize; 3] = [520, 200, 40];
/// Height of a population's line \[px\].
const LINE: f32 = 17.0;

/// A histogram of every quantity, women and men one over the other; below it a bar from the 5th to the 95th percentile of each
/// population, with its median.
pub fn people_sheet(summary: &Summary) -> Image {
    let panels: Vec<&[Compared]> = summary.compared.chunks(2).collect();
    let lines = |panel: &[Compared]| panel.iter().map(|row| row.populations.len()).sum::<usize>();
    let most = panels.iter().map(|panel| lines(panel)).max().unwrap_or(0);
    let [width, height, margin] = PANEL;
    let cell = [
        width + 2 * margin,
        height + 2 * margin + 20 + (LINE * most as f32) as usize,
    ];
    let rows = panels.len().div_ceil(2);
    let mut image = Image::new(2 * cell[0], 46 + rows * cell[1], PAPER);
    let [women, men] = summary.people;
    let title = format!(
        "{} scans: {women} women, {men} men, {} refused",
        summary.scans,
        summary.refused.len()
    );
    draw_text(&mut image, &title, margin as f32, 16.0, 20.0, INK);
    for (number, panel) in panels.iter().enumerate() {
        let left = (number % 2 * cell[0] + margin) as f32;
        let top = (46 + number / 2 * cell[1] + margin) as f32;
        draw_panel(&mut image, panel, left, top);
    }
    image
}

/// The scale of a panel: all values and percentiles that are drawn.
fn range(panel: &[Compared]) -> Option<(f64, f64)> {
    let values = panel.iter().flat_map(|row| {
        let known = row.populations.iter().flat_map(|(_, _, values)| values);
        row.values.iter().chain(known)
    });
    let finite = values.copied().filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let space = (0.04 * (high - low)).max(0.5);
    (low <= high).then_some((low - space, high + space))
}

fn draw_panel(image: &mut Image, panel: &[Compared], left: f32, top: f32) {
    let [width, height, _] = PANEL.map(|size| size as f32);
    let (Some(first), Some((low, high))) = (panel.first(), range(panel)) else {
        return;
    };
    draw_text(image, first.what, left, top - 22.0, 15.0, INK);
    let x = |value: f64| left + width * ((value - low) / (high - low)) as f32;
    let bottom = top + height;
    let counts: Vec<Vec<usize>> = (panel.iter())
        .map(|row| {
            let mut counts = vec![0; BARS];
            for &value in &row.values {
                let bar = (BARS as f64 * (value - low) / (high - low)) as usize;
                counts[bar.min(BARS - 1)] += 1;
            }
            counts
        })
        .collect();
    let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    for (row, counts) in panel.iter().zip(&counts) {
        // Women's bars on the left half of each place, men's on the right.
        let side = f32::from(u8::from(row.sex == Sex::Male));
        let bar = width / BARS as f32;
        for (number, &count) in counts.iter().enumerate() {
            let tall = (height - 8.0) * count as f32 / most as f32;
            let from = left + bar * (number as f32 + 0.06 + 0.45 * side);
            fill(
                image,
                [from, bottom - tall],
                [0.43 * bar, tall],
                colour(row.sex),
            );
        }
    }
    fill(image, [left, bottom], [width, 1.5], INK);
    for tick in ticks(low, high) {
        fill(image, [x(tick), bottom], [1.0, 5.0], INK);
        let label = format!("{tick}");
        let at = x(tick) - 0.5 * text_width(&label, 11.0);
        draw_text(image, &label, at, bottom + 7.0, 11.0, INK);
    }
    let mut y = bottom + 26.0;
    for row in panel {
        for (name, percents, values) in &row.populations {
            let at = |percent: f64| {
                let place = percents.iter().position(|known| *known == percent)?;
                values.get(place).copied()
            };
            if let (Some(low), Some(middle), Some(high)) = (at(5.0), at(50.0), at(95.0)) {
                let tint = colour(row.sex);
                fill(
                    image,
                    [x(low), y + 3.0],
                    [x(high) - x(low), 5.0],
                    tint.lerp(PAPER, 0.55),
                );
                fill(image, [x(middle) - 1.0, y], [2.5, 11.0], tint);
                fill(image, [left, y + 14.0], [width, 0.6], FAINT);
            }
            let sex = match row.sex {
                Sex::Male => "men",
                Sex::Female => "women",
            };
            let label = shortened(&format!("{sex}, {name}"), 62);
            draw_text(image, &label, left, y, 10.0, INK);
            y += LINE;
        }
    }
}

fn colour(sex: Sex) -> Vec3 {
    COLOURS[usize::from(sex == Sex::Male)]
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Round numbers, about six of them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    // Rounded to the step's own digits, so that labels have no tails.
    let digits = (-power.log10()).max(0.0) as i32 + 1;
    let round = |value: f64| (value * 10f64.powi(digits)).round() / 10f64.powi(digits);
    (first..=last)
        .take(40)
        .map(|k| round(k as f64 * step))
        .collect()
}

/// A box with soft edges.
fn fill(image: &mut Image, [x, y]: [f32; 2], [width, height]: [f32; 2], colour: Vec3) {
    let overlap = |low: f32, high: f32, pixel: i64| {
        (high.min(pixel as f32 + 1.0) - low.max(pixel as f32)).clamp(0.0, 1.0)
    };
    let (right, bottom) = (x + width, y + height);
    for row in y.floor() as i64..bottom.ceil() as i64 {
        for column in x.floor() as i64..right.ceil() as i64 {
            let share = overlap(x, right, column) * overlap(y, bottom, row);
            image.blend(column, row, colour, share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(151.2, 198.0), [160.0, 170.0, 180.0, 190.0]);
        assert_eq!(ticks(0.1, 1.0), [0.2, 0.4, 0.6, 0.8, 1.0]);
        assert!(ticks(5.0, 5.1).len() < 20);
    }

    #[test]
    fn nobody_makes_an_empty_sheet() {
        let summary = Summary {
            scans: 1,
            people: [0, 0],
            refused: vec![("a".to_owned(), "no person".to_owned())],
            compared: Vec::new(),
        };
        assert!(people_sheet(&summary).width > 100);
    }
}
