//! The glTF container: GLB or JSON text, and its buffers.

use serde_json::{Map, Value, json};

use super::base64::decode_data_uri;
use super::compression::{MESHOPT, decompress};
use super::json::Element;
use super::links::Links;
use crate::formats::FormatError;

const MAGIC: &[u8; 4] = b"glTF";
const JSON_CHUNK: u32 = 0x4E4F_534A;
const BIN_CHUNK: u32 = 0x004E_4942;

/// Reads the file of a relative URI.
pub(super) type Resolver<'a> = &'a mut dyn FnMut(&str) -> std::io::Result<Vec<u8>>;

/// A glTF file as raw JSON and raw buffers.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The whole JSON, in its original key order.
    pub json: Value,
    /// Content of each buffer.
    pub buffers: Vec<Vec<u8>>,
    /// Index and bytes of images stored beside the file. They are embedded when a GLB is written.
    pub loose_images: Vec<(usize, Vec<u8>)>,
    /// How the character read from this document maps to it.
    pub links: Links,
    /// Size of the file in bytes: the limit on decoded data depends on it.
    pub(super) size: usize,
}

impl Document {
    /// Reads a GLB, or a glTF text with embedded buffers.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut nothing = |_: &str| {
            Err(std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "external files are not available here; open the file together with them, or use a GLB",
            ))
        };
        Self::from_bytes_with(bytes, &mut nothing)
    }

    /// Like [`Document::from_bytes`], with a resolver for external files.
    pub fn from_bytes_with(
        bytes: &[u8],
        resolve: &mut dyn FnMut(&str) -> std::io::Result<Vec<u8>>,
    ) -> Result<Self, FormatError> {
        let (text, bin) = if bytes.starts_with(MAGIC) {
            split_glb(bytes)?
        } else {
            (bytes, None)
        };
        let json: Value = serde_json::from_slice(text).map_err(|error| {
            FormatError::text(error.line(), format!("the glTF is not valid JSON: {error}"))
        })?;
        let mut document = Self {
            json,
            size: bytes.len(),
            ..Self::default()
        };
        document.check_version()?;
        document.load_buffers(bin, resolve)?;
        document.load_images(resolve);
        decompress(&mut document)?;
        Ok(document)
    }

    /// The JSON root, with path tracking.
    pub(super) fn root(&self) -> Element<'_> {
        Element::root(&self.json)
    }

    /// Number of elements of a top-level list.
    pub fn count(&self, list: &str) -> usize {
        self.json
            .get(list)
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
    }

    /// The numbers of an accessor, which must have one of the given component counts.
    pub(crate) fn numbers(
        &self,
        accessor: usize,
        components: usize,
    ) -> Result<Vec<f32>, FormatError> {
        let accessors = super::accessor::Accessors::new(self)?;
        match accessor < accessors.len() {
            true => accessors.floats(accessor, &[components]),
            false => Err(FormatError::invalid(
                format!("accessors[{accessor}]"),
                "does not exist",
            )),
        }
    }

    fn check_version(&self) -> Result<(), FormatError> {
        if !self.json.is_object() {
            return Err(FormatError::invalid("file", "is not a glTF document"));
        }
        let version = self.json.pointer("/asset/version").and_then(Value::as_str);
        match version {
            Some(version) if version.starts_with("2.") => Ok(()),
            Some(version) => Err(FormatError::Unsupported(format!(
                "this is glTF {version}, but Supple reads glTF 2.0; convert the file, for example with Blender"
            ))),
            None => Err(FormatError::invalid(
                "asset",
                "has no version, so this is not glTF",
            )),
        }
    }

    fn load_buffers(&mut self, bin: Option<&[u8]>, resolve: Resolver) -> Result<(), FormatError> {
        let mut loaded = Vec::new();
        for (index, buffer) in self.root().items("buffers")?.iter().enumerate() {
            if !buffer.value.is_object() {
                return Err(buffer.invalid("is not an object"));
            }
            if is_placeholder(buffer) || (index > 0 && buffer.get("uri").is_none()) {
                loaded.push(Vec::new());
                continue;
            }
            let length = buffer.uint("byteLength", 0)?;
            let mut bytes = match buffer.get("uri").and_then(Value::as_str) {
                Some(uri) => read_uri(buffer, uri, resolve)?,
                None => bin.map(<[u8]>::to_vec).ok_or_else(|| {
                    buffer.invalid("has no URI, and the file has no binary chunk")
                })?,
            };
            if bytes.len() < length {
                return Err(FormatError::Truncated {
                    reason: format!(
                        "{} should have {length} bytes but has {}",
                        buffer.path,
                        bytes.len()
                    ),
                });
            }
            bytes.truncate(length);
            loaded.push(bytes);
        }
        self.size = self.size.max(loaded.iter().map(Vec::len).sum());
        self.buffers = loaded;
        Ok(())
    }

    /// Images are optional: one that cannot be read stays a reference.
    fn load_images(&mut self, resolve: Resolver) {
        let images = self.json.get("images").and_then(Value::as_array);
        let mut loaded = Vec::new();
        for (index, image) in images.into_iter().flatten().enumerate() {
            let uri = image.get("uri").and_then(Value::as_str);
            if let Some(uri) = uri.filter(|uri| !uri.starts_with("data:"))
                && let Ok(bytes) = resolve(uri)
            {
                loaded.push((index, bytes));
            }
        }
        self.loose_images = loaded;
    }

    /// Writes a GLB: all buffers are merged into the binary chunk, and external images are embedded.
    pub fn to_glb(&self) -> Result<Vec<u8>, FormatError> {
        let (json, bin) = self.merged();
        let mut text = serde_json::to_vec(&json)
            .map_err(|error| FormatError::invalid("file", error.to_string()))?;
        text.resize(text.len().next_multiple_of(4), b' ');
        let padded = bin.len().next_multiple_of(4);
        let has_bin = !bin.is_empty();
        let length = 12 + 8 + text.len() + if has_bin { 8 + padded } else { 0 };
        let total = u32::try_from(length).map_err(|_| {
            FormatError::Unsupported("the file would exceed the GLB limit of 4 GiB".into())
        })?;
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&2u32.to_le_bytes());
        bytes.extend_from_slice(&total.to_le_bytes());
        bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&JSON_CHUNK.to_le_bytes());
        bytes.extend_from_slice(&text);
        if has_bin {
            bytes.extend_from_slice(&(padded as u32).to_le_bytes());
            bytes.extend_from_slice(&BIN_CHUNK.to_le_bytes());
            bytes.extend_from_slice(&bin);
            bytes.resize(length, 0);
        }
        Ok(bytes)
    }

    /// The JSON and the content, merged into a single buffer.
    fn merged(&self) -> (Value, Vec<u8>) {
        let mut json = self.json.clone();
        let mut bin = Vec::new();
        let mut bases = Vec::with_capacity(self.buffers.len());
        for buffer in &self.buffers {
            bin.resize(bin.len().next_multiple_of(16), 0);
            bases.push(bin.len());
            bin.extend_from_slice(buffer);
        }
        if self.buffers.len() > 1 {
            rebase_views(&mut json, &bases);
        }
        for (image, bytes) in &self.loose_images {
            embed_image(&mut json, *image, bytes, &mut bin);
        }
        if bin.is_empty() {
            return (json, bin);
        }
        let mut buffer = match json.pointer_mut("/buffers/0").map(Value::take) {
            Some(Value::Object(buffer)) => buffer,
            _ => Map::new(),
        };
        buffer.shift_remove("uri");
        buffer.insert("byteLength".into(), bin.len().into());
        json["buffers"] = Value::Array(vec![buffer.into()]);
        (json, bin)
    }
}

/// Whether a buffer only holds the place of data that decompression makes.
fn is_placeholder(buffer: &Element<'_>) -> bool {
    let extensions = buffer.child("extensions");
    let fallback = |name: &&str| {
        let extension = extensions.as_ref().and_then(|all| all.child(name));
        extension.is_some_and(|extension| extension.flag("fallback"))
    };
    MESHOPT.iter().any(fallback)
}

fn read_uri(
    buffer: &Element<'_>,
    uri: &str,
    resolve: &mut dyn FnMut(&str) -> std::io::Result<Vec<u8>>,
) -> Result<Vec<u8>, FormatError> {
    if uri.starts_with("data:") {
        let decoded = decode_data_uri(uri);
        let (_, bytes) = decoded.ok_or_else(|| buffer.invalid("has a broken data URI"))?;
        return Ok(bytes);
    }
    resolve(uri).map_err(|error| buffer.invalid(format!("'{uri}' cannot be read: {error}")))
}

fn split_glb(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), FormatError> {
    let word = |at: usize| -> Option<u32> {
        let four = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(four.try_into().ok()?))
    };
    let truncated = |reason: &str| FormatError::Truncated {
        reason: reason.to_owned(),
    };
    let version = word(4).ok_or_else(|| truncated("GLB header"))?;
    if version != 2 {
        return Err(FormatError::Unsupported(format!(
            "this is GLB version {version}, but Supple reads version 2; convert the file, for example with Blender"
        )));
    }
    let length = word(8).ok_or_else(|| truncated("GLB header"))? as usize;
    if length > bytes.len() {
        return Err(FormatError::Truncated {
            reason: format!(
                "the header declares {length} bytes, but there are {}",
                bytes.len()
            ),
        });
    }
    let mut at = 12;
    let mut text = None;
    let mut bin = None;
    while let (Some(size), Some(kind)) = (word(at), word(at + 4)) {
        let chunk = (at + 8)
            .checked_add(size as usize)
            .and_then(|end| bytes.get(at + 8..end))
            .ok_or_else(|| truncated("GLB chunk"))?;
        match kind {
            JSON_CHUNK if text.is_none() => text = Some(chunk),
            BIN_CHUNK if bin.is_none() => bin = Some(chunk),
            _ => {}
        }
        at += 8 + chunk.len();
    }
    let text = text.ok_or_else(|| truncated("no JSON chunk"))?;
    Ok((text, bin))
}

/// Redirects buffer views, and their compressed counterparts, to the merged buffer.
fn rebase_views(json: &mut Value, bases: &[usize]) {
    let views = json.get_mut("bufferViews").and_then(Value::as_array_mut);
    for view in views.into_iter().flatten() {
        rebase(view, bases);
        let extensions = view.get_mut("extensions").and_then(Value::as_object_mut);
        for (_, extension) in extensions.into_iter().flatten() {
            if extension.get("buffer").is_some() {
                rebase(extension, bases);
            }
        }
    }
}

fn rebase(view: &mut Value, bases: &[usize]) {
    let Some(view) = view.as_object_mut() else {
        return;
    };
    let buffer = view.get("buffer").and_then(super::json::as_uint);
    let offset = view.get("byteOffset").and_then(super::json::as_uint);
    if let Some(&base) = buffer.and_then(|buffer| bases.get(buffer)) {
        view.insert("buffer".into(), 0.into());
        view.insert("byteOffset".into(), (base + offset.unwrap_or(0)).into());
    }
}

fn embed_image(json: &mut Value, image: usize, bytes: &[u8], bin: &mut Vec<u8>) {
    bin.resize(bin.len().next_multiple_of(4), 0);
    let view = json!({"buffer": 0, "byteOffset": bin.len(), "byteLength": bytes.len()});
    bin.extend_from_slice(bytes);
    let index = push(json, "bufferViews", view);
    let Some(entry) = json
        .get_mut("images")
        .and_then(|images| images.get_mut(image))
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    entry.shift_remove("uri");
    entry.insert("bufferView".into(), index.into());
    if !entry.contains_key("mimeType") {
        entry.insert("mimeType".into(), media_type(bytes).into());
    }
}

/// The media type of an encoded image, by its first bytes.
pub(super) fn media_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xFF, 0xD8, ..] => "image/jpeg",
        [b'R', b'I', b'F', b'F', ..] => "image/webp",
        [0xAB, b'K', b'T', b'X', ..] => "image/ktx2",
        _ => "image/png",
    }
}

/// Appends to a top-level list, created if needed; returns the index of the new element.
pub(super) fn push(json: &mut Value, list: &str, element: Value) -> usize {
    if !json.get(list).is_some_and(Value::is_array) {
        json[list] = Value::Array(Vec::new());
    }
    match json[list].as_array_mut() {
        Some(items) => {
            items.push(element);
            items.len() - 1
        }
        None => 0,
    }
}
