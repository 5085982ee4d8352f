//! Text drawn as strokes: neighbouring dots of the bitmap font are joined by round-ended lines, so that letters are smooth
//! at any size.

use glam::{Vec2, Vec3};

use crate::font::{DESCENDER, DESCENT, ROWS, glyph};
use crate::image::Image;

/// Half the stroke width, in dots.
const STROKE_RADIUS: f32 = 0.48;
/// Space between two glyphs, in dots.
const GLYPH_SPACING: f32 = 1.7;
/// Width of a space character, in dots.
const SPACE_WIDTH: f32 = 2.4;

type Segment = (Vec2, Vec2);

/// Width of a line of text with capitals `size` pixels high \[px\].
pub fn text_width(text: &str, size: f32) -> f32 {
    let dots: f32 = text.chars().map(|c| advance(&strokes(c))).sum();
    (dots - GLYPH_SPACING + 2.0 * STROKE_RADIUS).max(0.0) * size / ROWS as f32
}

/// Draws a line of text with capitals `size` pixels high; `(x, y)` is the left end of the top of the capitals \[px\].
pub fn draw_text(image: &mut Image, text: &str, x: f32, y: f32, size: f32, colour: Vec3) {
    if !(x.is_finite() && y.is_finite() && size > 0.0 && size < 4096.0) {
        return;
    }
    let dot = size / ROWS as f32;
    let mut pen = Vec2::new(x + STROKE_RADIUS * dot, y + 0.5 * dot);
    for character in text.chars() {
        let segments = strokes(character);
        draw_glyph(image, &segments, pen, dot, colour);
        pen.x += advance(&segments) * dot;
    }
}

/// Draws a line of text centred at `x`.
pub fn draw_text_centred(image: &mut Image, text: &str, x: f32, y: f32, size: f32, colour: Vec3) {
    draw_text(
        image,
        text,
        x - 0.5 * text_width(text, size),
        y,
        size,
        colour,
    );
}

fn advance(segments: &[Segment]) -> f32 {
    let right = segments
        .iter()
        .map(|(a, b)| a.x.max(b.x))
        .fold(None, |m: Option<f32>, x| Some(m.map_or(x, |m| m.max(x))));
    right.map_or(SPACE_WIDTH, |right| right + GLYPH_SPACING)
}

/// Lines between neighbouring dots, shifted so that the glyph starts at x = 0. An isolated dot is a line of zero
/// length. Diagonals join only dots that are not connected otherwise.
fn strokes(character: char) -> Vec<Segment> {
    let columns = glyph(character);
    let drop = if columns[0] & DESCENDER != 0 {
        DESCENT as f32
    } else {
        0.0
    };
    let dot = |x: i32, y: i32| {
        (0..5).contains(&x)
            && (0..ROWS as i32).contains(&y)
            && columns[x as usize] & !DESCENDER & (1 << y) != 0
    };
    let left = (0..5)
        .find(|&x| columns[x as usize] & !DESCENDER != 0)
        .unwrap_or(0);
    let place = |x: i32, y: i32| Vec2::new((x - left) as f32, y as f32 + drop);
    let mut segments = Vec::new();
    for x in 0..5 {
        for y in 0..ROWS as i32 {
            if !dot(x, y) {
                continue;
            }
            let from = place(x, y);
            segments.push((from, from));
            for (dx, dy) in [(1, 0), (0, 1)] {
                if dot(x + dx, y + dy) {
                    segments.push((from, place(x + dx, y + dy)));
                }
            }
            for dy in [-1, 1] {
                if dot(x + 1, y + dy) && !dot(x + 1, y) && !dot(x, y + dy) {
                    segments.push((from, place(x + 1, y + dy)));
                }
            }
        }
    }
    if character == 'j' {
        let top = Vec2::new(2.0, 0.0);
        segments.push((top, top));
    }
    segments
}

fn draw_glyph(image: &mut Image, segments: &[Segment], pen: Vec2, dot: f32, colour: Vec3) {
    let reach = STROKE_RADIUS * dot + 1.0;
    let (low, high) = (
        pen - reach,
        pen + Vec2::new(4.0, (ROWS + DESCENT) as f32) * dot + reach,
    );
    for y in (low.y.floor() as i64).max(0)..(high.y.ceil() as i64).min(image.height as i64) {
        for x in (low.x.floor() as i64).max(0)..(high.x.ceil() as i64).min(image.width as i64) {
            let at = (Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - pen) / dot;
            let distance = segments
                .iter()
                .map(|&(a, b)| segment_distance(at, a, b))
                .fold(f32::INFINITY, f32::min);
            image.blend(
                x,
                y,
                colour,
                ((STROKE_RADIUS - distance) * dot + 0.5).clamp(0.0, 1.0),
            );
        }
    }
}

/// Distance of a point from a line segment.
pub(crate) fn segment_distance(point: Vec2, a: Vec2, b: Vec2) -> f32 {
    let along = b - a;
    let t = ((point - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
    point.distance(a + along * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_its_own_glyph() {
        let glyphs: Vec<_> = (' '..='~').map(glyph).collect();
        for (i, a) in glyphs.iter().enumerate() {
            for (j, b) in glyphs.iter().enumerate().skip(i + 1) {
                let same = [b' ' + i as u8, b' ' + j as u8] == *b"0O";
                assert!(a != b || same, "{i} {j}");
            }
        }
        assert_eq!(glyph('\u{4e16}'), glyph('?'));
    }

    #[test]
    fn ink_stays_within_the_measured_width() {
        let text = "Ag|@ {j} 0.25 mm";
        let mut image = Image::new(400, 40, Vec3::ONE);
        draw_text(&mut image, text, 10.0, 8.0, 14.0, Vec3::ZERO);
        let inked: Vec<usize> = (0..400)
            .filter(|&x| (0..40).any(|y| image.pixel(x, y)[0] < 128))
            .collect();
        assert!(inked[0] >= 9 && inked[0] <= 11);
        let end = 10.0 + text_width(text, 14.0);
        assert!(
            (*inked.last().unwrap() as f32 + 1.0 - end).abs() < 1.5,
            "{inked:?} {end}"
        );
    }

    #[test]
    fn text_outside_the_image_is_ignored() {
        let mut image = Image::new(8, 8, Vec3::ONE);
        for (x, y, size) in [
            (-90.0, 0.0, 7.0),
            (90.0, 90.0, 7.0),
            (f32::NAN, 0.0, 7.0),
            (0.0, 0.0, -1.0),
        ] {
            draw_text(&mut image, "text", x, y, size, Vec3::ZERO);
        }
        assert_eq!(image, Image::new(8, 8, Vec3::ONE));
        draw_text(&mut Image::default(), "text", 0.0, 0.0, 7.0, Vec3::ZERO);
    }
}
