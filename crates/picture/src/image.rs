//! RGBA images with 8 bits per channel, and PNG files.

use std::io::Cursor;
use std::path::Path;

use glam::Vec3;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::colour::{to_bytes, to_linear, to_srgb};

/// Why an image could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The bytes are not a decodable PNG.
    #[error("not a readable PNG: {0}")]
    Decode(#[from] png::DecodingError),
    /// The bytes are not a decodable JPEG.
    #[error("not a readable JPEG: {0}")]
    Jpeg(#[from] zune_jpeg::errors::DecodeErrors),
    /// The bytes are not a decodable WebP.
    #[error("not a readable WebP: {0}")]
    WebP(#[from] image_webp::DecodingError),
    /// The image could not be encoded; an empty image has no PNG.
    #[error("cannot write the PNG: {0}")]
    Encode(#[from] png::EncodingError),
    /// The header declares more than [`MAX_PIXELS`] pixels.
    #[error("the image is too large: {width} x {height} pixels")]
    TooLarge {
        /// Width in the header \[px\].
        width: u32,
        /// Height in the header \[px\].
        height: u32,
    },
    /// The file could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Path of the file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Largest number of pixels that is decoded: more than an 8k texture.
pub const MAX_PIXELS: u64 = 1 << 27;

/// Pixels row by row from the top left, four bytes each: sRGB red, green, blue, and straight alpha.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Width \[px\].
    pub width: usize,
    /// Height \[px\].
    pub height: usize,
    /// `4 * width * height` bytes.
    pub rgba: Vec<u8>,
}

impl Image {
    /// An opaque image of one colour.
    pub fn new(width: usize, height: usize, colour: Vec3) -> Self {
        let [r, g, b] = to_bytes(colour);
        Self {
            width,
            height,
            rgba: [r, g, b, 255].repeat(width * height),
        }
    }

    /// The bytes of a pixel; transparent black outside the image.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 4] {
        if x >= self.width || y >= self.height {
            return [0; 4];
        }
        let at = 4 * (y * self.width + x);
        self.rgba
            .get(at..at + 4)
            .and_then(|bytes| bytes.try_into().ok())
            .unwrap_or([0; 4])
    }

    /// Blends `colour` over a pixel in linear light. Pixels outside the image are ignored.
    pub fn blend(&mut self, x: i64, y: i64, colour: Vec3, alpha: f32) {
        if x < 0 || y < 0 || x >= self.width as i64 || y >= self.height as i64 || alpha <= 0.0 {
            return;
        }
        let at = 4 * (y as usize * self.width + x as usize);
        let Some(pixel) = self.rgba.get_mut(at..at + 4) else {
            return;
        };
        let under = Vec3::new(
            f32::from(pixel[0]),
            f32::from(pixel[1]),
            f32::from(pixel[2]),
        ) / 255.0;
        let mixed = to_linear(under).lerp(to_linear(colour), alpha.min(1.0));
        pixel[..3].copy_from_slice(&to_bytes(to_srgb(mixed)));
        pixel[3] = pixel[3].max((alpha.min(1.0) * 255.0) as u8);
    }

    /// Fills a rectangle, clipped to the image.
    pub fn fill(&mut self, x: i64, y: i64, width: usize, height: usize, colour: Vec3) {
        for row in y..y + height as i64 {
            for column in x..x + width as i64 {
                self.blend(column, row, colour, 1.0);
            }
        }
    }

    /// Copies `other` with its top left corner at `(x, y)`, clipped to the image.
    pub fn blit(&mut self, other: &Image, x: i64, y: i64) {
        let left = x.max(0);
        let right = (x + other.width as i64).min(self.width as i64);
        if left >= right {
            return;
        }
        let bytes = 4 * (right - left) as usize;
        for row in 0..other.height as i64 {
            if y + row < 0 || y + row >= self.height as i64 {
                continue;
            }
            let to = 4 * ((y + row) as usize * self.width + left as usize);
            let from = 4 * (row as usize * other.width + (left - x) as usize);
            if let (Some(to), Some(from)) = (
                self.rgba.get_mut(to..to + bytes),
                other.rgba.get(from..from + bytes),
            ) {
                to.copy_from_slice(from);
            }
        }
    }

    /// Encodes a PNG: RGB if every pixel is opaque, else RGBA.
    pub fn encode_png(&self) -> Result<Vec<u8>, ImageError> {
        let opaque = self.rgba.chunks_exact(4).all(|pixel| pixel[3] == 255);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_color(if opaque {
            png::ColorType::Rgb
        } else {
            png::ColorType::Rgba
        });
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Balanced);
        let mut writer = encoder.write_header()?;
        if opaque {
            let rgb: Vec<u8> = self
                .rgba
                .chunks_exact(4)
                .flat_map(|p| [p[0], p[1], p[2]])
                .collect();
            writer.write_image_data(&rgb)?;
        } else {
            writer.write_image_data(&self.rgba)?;
        }
        writer.finish()?;
        Ok(bytes)
    }

    /// Decodes a PNG, JPEG or WebP, detected by its first bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, ImageError> {
        if bytes.starts_with(b"RIFF") {
            Self::decode_webp(bytes)
        } else if bytes.starts_with(&[0xff, 0xd8]) {
            Self::decode_jpeg(bytes)
        } else {
            Self::decode_png(bytes)
        }
    }

    fn decode_jpeg(bytes: &[u8]) -> Result<Self, ImageError> {
        let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGBA);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers()?;
        let (width, height) = decoder
            .info()
            .map_or((0, 0), |info| (info.width, info.height));
        Ok(Self {
            width: width.into(),
            height: height.into(),
            rgba: decoder.decode()?,
        })
    }

    /// Of an animation the first frame.
    fn decode_webp(bytes: &[u8]) -> Result<Self, ImageError> {
        let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes))?;
        let (width, height) = decoder.dimensions();
        let too_large = ImageError::TooLarge { width, height };
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return Err(too_large);
        }
        let Some(size) = decoder.output_buffer_size() else {
            return Err(too_large);
        };
        let mut data = vec![0; size];
        decoder.read_image(&mut data)?;
        let rgba = match decoder.has_alpha() {
            true => data,
            false => (data.chunks_exact(3))
                .flat_map(|p| [p[0], p[1], p[2], 255])
                .collect(),
        };
        Ok(Self {
            width: width as usize,
            height: height as usize,
            rgba,
        })
    }

    /// Decodes a PNG of any colour type and depth.
    pub fn decode_png(bytes: &[u8]) -> Result<Self, ImageError> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let (width, height) = reader.info().size();
        let too_large = ImageError::TooLarge { width, height };
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return Err(too_large);
        }
        let Some(size) = reader.output_buffer_size() else {
            return Err(too_large);
        };
        let mut data = vec![0; size];
        let frame = reader.next_frame(&mut data)?;
        data.truncate(frame.buffer_size());
        let rgba = match frame.color_type {
            png::ColorType::Grayscale => data.iter().flat_map(|&g| [g, g, g, 255]).collect(),
            png::ColorType::GrayscaleAlpha => data
                .chunks_exact(2)
                .flat_map(|p| [p[0], p[0], p[0], p[1]])
                .collect(),
            png::ColorType::Rgb => data
                .chunks_exact(3)
                .flat_map(|p| [p[0], p[1], p[2], 255])
                .collect(),
            // Palettes were expanded by the transformation above.
            png::ColorType::Rgba | png::ColorType::Indexed => data,
        };
        Ok(Self {
            width: width as usize,
            height: height as usize,
            rgba,
        })
    }

    /// Writes a PNG under a temporary name and renames it to `path`, so that no partial file is ever visible.
    pub fn save_png(&self, path: impl AsRef<Path>) -> Result<(), ImageError> {
        let path = path.as_ref();
        let bytes = self.encode_png()?;
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = Path::new(&temporary);
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
        folder
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(temporary, bytes))
            .and_then(|()| std::fs::rename(temporary, path))
            .map_err(|source| {
                // Best effort: the first error is the one to report.
                let _ = std::fs::remove_file(temporary);
                ImageError::Write {
                    path: path.display().to_string(),
                    source,
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lossless WebP with and without alpha, and bytes that only begin like one.
    #[test]
    fn webp_is_decoded() {
        let pixels = [10u8, 20, 30, 255, 40, 50, 60, 128];
        let mut bytes = Vec::new();
        image_webp::WebPEncoder::new(&mut bytes)
            .encode(&pixels, 2, 1, image_webp::ColorType::Rgba8)
            .unwrap();
        let image = Image::decode(&bytes).unwrap();
        assert_eq!((image.width, image.height), (2, 1));
        assert_eq!(image.rgba, pixels);
        let mut opaque = Vec::new();
        image_webp::WebPEncoder::new(&mut opaque)
            .encode(&pixels[..6], 2, 1, image_webp::ColorType::Rgb8)
            .unwrap();
        let image = Image::decode(&opaque).unwrap();
        assert_eq!(image.rgba, [10, 20, 30, 255, 255, 40, 50, 255]);
        for length in 0..bytes.len() {
            let _ = Image::decode(&bytes[..length]);
        }
        assert!(Image::decode(b"RIFF\x24\0\0\0WEBPVP8 ").is_err());
    }
    use crate::hex;

    #[test]
    fn png_round_trip_with_and_without_alpha() {
        let mut image = Image::new(5, 3, hex(0x123456));
        image.fill(1, 1, 2, 9, hex(0xfedcba));
        assert_eq!(
            Image::decode_png(&image.encode_png().unwrap()).unwrap(),
            image
        );
        image.rgba[7] = 90;
        assert_eq!(
            Image::decode_png(&image.encode_png().unwrap()).unwrap(),
            image
        );
    }

    #[test]
    fn invalid_and_truncated_files_are_errors() {
        assert!(matches!(
            Image::decode_png(b"no picture"),
            Err(ImageError::Decode(_))
        ));
        let bytes = Image::new(40, 40, hex(0x336699)).encode_png().unwrap();
        for end in 0..bytes.len() - 12 {
            assert!(Image::decode_png(&bytes[..end]).is_err(), "cut at {end}");
        }
        assert!(Image::new(0, 4, Vec3::ONE).encode_png().is_err());
    }

    #[test]
    fn blit_is_clipped_at_every_border() {
        let tile = Image::new(4, 4, hex(0xff0000));
        let mut image = Image::new(6, 6, hex(0x000000));
        for (x, y) in [(-2, -2), (4, 4), (-9, 0), (9, 9), (0, -9)] {
            image.blit(&tile, x, y);
        }
        let red = image.rgba.chunks_exact(4).filter(|p| p[0] == 255).count();
        assert_eq!(red, 4 + 4);
        assert_eq!(image.pixel(1, 1), [255, 0, 0, 255]);
        assert_eq!(image.pixel(2, 2), [0, 0, 0, 255]);
    }

    #[test]
    fn saving_leaves_one_file() {
        let folder = std::env::temp_dir().join(format!("supple-picture-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Image::new(2, 2, Vec3::ONE)
            .save_png(folder.join("a.png"))
            .unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        // A missing folder is created; below a file none can be.
        let save = |name: &str| Image::new(2, 2, Vec3::ONE).save_png(folder.join(name));
        assert!(save("new/a.png").is_ok() && folder.join("new/a.png").is_file());
        assert!(save("a.png/b.png").is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
