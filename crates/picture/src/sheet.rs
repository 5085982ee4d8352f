//! Contact sheets: pictures side by side, with captions and a title.

use glam::Vec3;

use crate::colour::hex;
use crate::image::Image;
use crate::scene::INK;
use crate::text::{draw_text, draw_text_centred, text_width};

/// Style of a contact sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SheetStyle {
    /// Background colour.
    pub paper: Vec3,
    /// Text colour.
    pub ink: Vec3,
    /// Space around and between tiles \[px\].
    pub gap: usize,
    /// Height of the captions' capitals \[px\].
    pub caption: f32,
    /// Height of the title's capitals \[px\].
    pub title: f32,
}

impl Default for SheetStyle {
    fn default() -> Self {
        Self {
            paper: hex(0xfbfaf8),
            ink: INK,
            gap: 14,
            caption: 10.0,
            title: 16.0,
        }
    }
}

/// Lays out tiles in rows of `columns`, each with its caption below; an empty title takes no space.
pub fn contact_sheet(
    title: &str,
    tiles: &[(Image, String)],
    columns: usize,
    style: &SheetStyle,
) -> Image {
    let columns = columns.clamp(1, tiles.len().max(1));
    let width = tiles
        .iter()
        .map(|(image, _)| image.width)
        .max()
        .unwrap_or(0);
    let height = tiles
        .iter()
        .map(|(image, _)| image.height)
        .max()
        .unwrap_or(0);
    let caption = if tiles.iter().all(|(_, text)| text.is_empty()) {
        0
    } else {
        (style.caption * 2.4) as usize
    };
    let head = if title.is_empty() {
        0
    } else {
        (style.title * 2.2) as usize
    };
    let gap = style.gap;
    let rows = tiles.len().div_ceil(columns);
    let mut sheet = Image::new(
        gap + columns * (width + gap),
        gap + head + rows * (height + caption + gap),
        style.paper,
    );
    if head > 0 {
        let size = fitting_size(title, style.title, sheet.width.saturating_sub(2 * gap));
        draw_text(
            &mut sheet,
            title,
            gap as f32,
            gap as f32 + 0.3 * style.title,
            size,
            style.ink,
        );
    }
    for (i, (image, text)) in tiles.iter().enumerate() {
        let x = gap + i % columns * (width + gap);
        let y = gap + head + i / columns * (height + caption + gap);
        sheet.blit(
            image,
            (x + (width - image.width) / 2) as i64,
            (y + (height - image.height) / 2) as i64,
        );
        let size = fitting_size(text, style.caption, width);
        let below = (y + height) as f32 + 0.8 * style.caption;
        draw_text_centred(
            &mut sheet,
            text,
            x as f32 + width as f32 * 0.5,
            below,
            size,
            style.ink,
        );
    }
    sheet
}

/// The largest text size up to `size` that fits the width.
fn fitting_size(text: &str, size: f32, width: usize) -> f32 {
    size * (width as f32 / text_width(text, size).max(1e-3)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_laid_out_in_rows() {
        let colours = [hex(0xff0000), hex(0x00ff00), hex(0x0000ff)];
        let tiles: Vec<_> = colours
            .iter()
            .map(|&c| (Image::new(20, 10, c), "tile".to_string()))
            .collect();
        let style = SheetStyle {
            gap: 4,
            ..SheetStyle::default()
        };
        let sheet = contact_sheet("", &tiles, 2, &style);
        assert_eq!(
            (sheet.width, sheet.height),
            (4 + 2 * 24, 4 + 2 * (10 + 24 + 4))
        );
        assert_eq!(sheet.pixel(4, 4), [255, 0, 0, 255]);
        assert_eq!(sheet.pixel(28, 4), [0, 255, 0, 255]);
        assert_eq!(sheet.pixel(4, 42), [0, 0, 255, 255]);
        assert_ne!(sheet.pixel(28, 42), [0, 0, 255, 255]);
    }

    #[test]
    fn empty_and_mixed_sizes_make_a_sheet() {
        let style = SheetStyle::default();
        assert!(contact_sheet("title", &[], 0, &style).width > 0);
        let tiles = [
            (Image::default(), "a caption wider than its tile".into()),
            (Image::new(3, 9, Vec3::ONE), String::new()),
        ];
        assert!(contact_sheet("", &tiles, 7, &style).encode_png().is_ok());
    }
}
