//! Bounds-checked accessors: all component types, normalised integers, strides, sparse data.

use std::cell::Cell;

use glam::{Mat4, Vec2, Vec3, Vec4};

use super::document::Document;
use super::json::Element;
use crate::formats::FormatError;

/// Decoded bytes allowed for any file, however small: sparse morph targets expand a lot.
const MIN_DECODED_LIMIT: usize = 256 << 20;
/// Decoded bytes allowed per byte of file.
const DECODED_PER_BYTE: usize = 64;

/// Reads the accessors of one document, with a limit on the total decoded size.
pub(super) struct Accessors<'a> {
    document: &'a Document,
    accessors: Vec<Element<'a>>,
    views: Vec<Element<'a>>,
    budget: Cell<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

/// Evenly spaced elements in a buffer.
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
}

struct Layout {
    component: Component,
    normalized: bool,
    components: usize,
    count: usize,
}

impl<'a> Accessors<'a> {
    pub fn new(document: &'a Document) -> Result<Self, FormatError> {
        Ok(Self {
            document,
            accessors: document.root().items("accessors")?,
            views: document.root().items("bufferViews")?,
            budget: Cell::new(
                MIN_DECODED_LIMIT.saturating_add(document.size.saturating_mul(DECODED_PER_BYTE)),
            ),
        })
    }

    pub fn len(&self) -> usize {
        self.accessors.len()
    }

    pub fn path(&self, index: usize) -> String {
        format!("accessors[{index}]")
    }

    /// Counts decoded bytes against the limit.
    pub fn spend(&self, bytes: usize, element: &str) -> Result<(), FormatError> {
        let left = self.budget.get().checked_sub(bytes).ok_or_else(|| {
            FormatError::invalid(
                element,
                "describes far more data than the file size justifies",
            )
        })?;
        self.budget.set(left);
        Ok(())
    }

    /// The bytes of a buffer view.
    pub fn view(&self, index: usize) -> Result<&'a [u8], FormatError> {
        self.range(&self.views[index])
    }

    /// The bytes of a buffer that an element names, as a buffer view does.
    pub fn range(&self, view: &Element<'_>) -> Result<&'a [u8], FormatError> {
        let buffers = &self.document.buffers;
        let buffer = &buffers[view.index("buffer", buffers.len())?];
        let offset = view.uint("byteOffset", 0)?;
        let length = view.uint("byteLength", 0)?;
        offset
            .checked_add(length)
            .and_then(|end| buffer.get(offset..end))
            .ok_or_else(|| FormatError::Truncated {
                reason: format!(
                    "{} needs {length} bytes at offset {offset}, but its buffer has {}",
                    view.path,
                    buffer.len()
                ),
            })
    }

    pub fn view_count(&self) -> usize {
        self.views.len()
    }

    fn layout(&self, index: usize) -> Result<Layout, FormatError> {
        let accessor = &self.accessors[index];
        let component = match accessor.uint("componentType", 0)? {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            other => return Err(accessor.invalid(format!("has unknown component type {other}"))),
        };
        let components = match accessor.text("type").as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => {
                return Err(
                    accessor.invalid(format!("has type '{other}', which is not allowed here"))
                );
            }
        };
        Ok(Layout {
            component,
            normalized: accessor.flag("normalized"),
            components,
            count: accessor.uint("count", 0)?,
        })
    }

    /// `count` elements of `size` bytes at an offset in the view that `element` refers to.
    fn strided(
        &self,
        element: &Element<'a>,
        size: usize,
        count: usize,
    ) -> Result<Option<Strided<'a>>, FormatError> {
        let Some(view) = element.optional_index("bufferView", self.views.len())? else {
            return Ok(None);
        };
        let offset = element.uint("byteOffset", 0)?;
        let bytes = self.view(view)?;
        let stride = match self.views[view].uint("byteStride", 0)? {
            0 => size,
            stride if stride >= size => stride,
            stride => {
                let reason =
                    format!("has stride {stride}, less than the element size of {size} bytes");
                return Err(self.views[view].invalid(reason));
            }
        };
        let end = count
            .checked_sub(1)
            .and_then(|last| last.checked_mul(stride))
            .and_then(|start| start.checked_add(size))
            .map_or((count == 0).then_some(0), Some)
            .and_then(|length| length.checked_add(offset));
        match end.and_then(|end| bytes.get(offset..end)) {
            Some(bytes) => Ok(Some(Strided { bytes, stride })),
            None => Err(FormatError::Truncated {
                reason: format!(
                    "{} needs {count} elements at byte {offset}, but its view has {} bytes",
                    element.path,
                    bytes.len()
                ),
            }),
        }
    }

    /// All numbers of an accessor in order, converted by `convert`.
    fn read<T: Copy + Default>(
        &self,
        index: usize,
        components: &[usize],
        convert: impl Fn(&Layout, &[u8]) -> T,
    ) -> Result<Vec<T>, FormatError> {
        let accessor = &self.accessors[index];
        let layout = self.layout(index)?;
        if !components.contains(&layout.components) {
            let reason = format!(
                "has {} components per element, which is not allowed here",
                layout.components
            );
            return Err(accessor.invalid(reason));
        }
        let size = layout.component.size();
        let element = size * layout.components;
        let data = self.strided(accessor, element, layout.count)?;
        let total = layout.count.saturating_mul(layout.components);
        self.spend(total.saturating_mul(size_of::<T>()), &accessor.path)?;
        let mut numbers = match data {
            None => vec![T::default(); total],
            Some(data) => data
                .elements(layout.count)
                .flat_map(|bytes| bytes[..element].chunks_exact(size))
                .map(|bytes| convert(&layout, bytes))
                .collect(),
        };
        if let Some(sparse) = accessor.child("sparse") {
            self.overlay(&sparse, &layout, &mut numbers, convert)?;
        }
        Ok(numbers)
    }

    fn overlay<T: Copy>(
        &self,
        sparse: &Element<'a>,
        layout: &Layout,
        numbers: &mut [T],
        convert: impl Fn(&Layout, &[u8]) -> T,
    ) -> Result<(), FormatError> {
        let missing = || sparse.invalid("has no indices or values");
        let count = sparse.uint("count", 0)?;
        let indices = sparse.child("indices").ok_or_else(missing)?;
        let values = sparse.child("values").ok_or_else(missing)?;
        let kind = match indices.uint("componentType", 0)? {
            5121 => Component::U8,
            5123 => Component::U16,
            5125 => Component::U32,
            _ => return Err(indices.invalid("has no index type")),
        };
        let size = layout.component.size();
        let element = size * layout.components;
        let places = self
            .strided(&indices, kind.size(), count)?
            .ok_or_else(missing)?;
        let values = self.strided(&values, element, count)?.ok_or_else(missing)?;
        for (place, value) in places.elements(count).zip(values.elements(count)) {
            let place = kind.number(&place[..kind.size()]) as usize;
            let start = place.saturating_mul(layout.components);
            let target = numbers
                .get_mut(start..start.saturating_add(layout.components))
                .ok_or_else(|| {
                    indices.invalid(format!("refers to element {place}, which is out of range"))
                })?;
            for (number, bytes) in target.iter_mut().zip(value[..element].chunks_exact(size)) {
                *number = convert(layout, bytes);
            }
        }
        Ok(())
    }

    /// All numbers as floats.
    pub fn floats(&self, index: usize, components: &[usize]) -> Result<Vec<f32>, FormatError> {
        self.read(index, components, |layout, bytes| {
            let number = layout.component.number(bytes);
            let number = match layout.normalized {
                true => layout.component.normalize(number),
                false => number,
            };
            number as f32
        })
    }

    /// All numbers as they are stored, and how many an element has.
    pub fn raw(&self, index: usize) -> Result<(Vec<f64>, usize), FormatError> {
        let components = self.layout(index)?.components;
        let numbers = self.read(index, &[components], |layout, bytes| {
            layout.component.number(bytes)
        })?;
        Ok((numbers, components))
    }

    /// All numbers as unsigned integers.
    pub fn integers(&self, index: usize, components: &[usize]) -> Result<Vec<u32>, FormatError> {
        self.read(index, components, |layout, bytes| {
            layout.component.number(bytes) as u32
        })
    }

    pub fn vec2s(&self, index: usize) -> Result<Vec<Vec2>, FormatError> {
        let numbers = self.floats(index, &[2])?;
        Ok(numbers.chunks_exact(2).map(Vec2::from_slice).collect())
    }

    pub fn vec3s(&self, index: usize) -> Result<Vec<Vec3>, FormatError> {
        let numbers = self.floats(index, &[3])?;
        Ok(numbers.chunks_exact(3).map(Vec3::from_slice).collect())
    }

    pub fn vec4s(&self, index: usize) -> Result<Vec<Vec4>, FormatError> {
        let numbers = self.floats(index, &[4])?;
        Ok(numbers.chunks_exact(4).map(Vec4::from_slice).collect())
    }

    /// Colours; three components get alpha one.
    pub fn colors(&self, index: usize) -> Result<Vec<Vec4>, FormatError> {
        if self.layout(index)?.components == 4 {
            return self.vec4s(index);
        }
        Ok(self
            .vec3s(index)?
            .into_iter()
            .map(|rgb| rgb.extend(1.0))
            .collect())
    }

    pub fn matrices(&self, index: usize) -> Result<Vec<Mat4>, FormatError> {
        let numbers = self.floats(index, &[16])?;
        Ok(numbers
            .chunks_exact(16)
            .map(Mat4::from_cols_slice)
            .collect())
    }
}

impl<'a> Strided<'a> {
    fn elements(&self, count: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.bytes.chunks(self.stride).take(count)
    }
}

impl Component {
    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::I8, &[a]) => f64::from(a as i8),
            (Self::U8, &[a]) => f64::from(a),
            (Self::I16, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
            (Self::U16, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
            (Self::U32, &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
            (Self::F32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            _ => 0.0,
        }
    }

    /// glTF 2.0, section 3.11 (dequantisation of normalised integers).
    fn normalize(self, number: f64) -> f64 {
        match self {
            Self::I8 => (number / 127.0).max(-1.0),
            Self::U8 => number / 255.0,
            Self::I16 => (number / 32767.0).max(-1.0),
            Self::U16 => number / 65535.0,
            Self::U32 | Self::F32 => number,
        }
    }
}
