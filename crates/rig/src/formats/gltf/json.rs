//! JSON values with their paths, so that every error names its element.

use serde_json::Value;

use crate::formats::FormatError;

/// A value and its path in the file (`nodes[3]`).
#[derive(Clone)]
pub(super) struct Element<'a> {
    pub value: &'a Value,
    pub path: String,
}

impl<'a> Element<'a> {
    pub fn root(value: &'a Value) -> Self {
        Self {
            value,
            path: String::new(),
        }
    }

    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.value.get(key)
    }

    pub fn child(&self, key: &str) -> Option<Element<'a>> {
        let value = self.value.get(key)?;
        Some(Element {
            value,
            path: self.path_of(key),
        })
    }

    pub fn invalid(&self, reason: impl Into<String>) -> FormatError {
        FormatError::invalid(&self.path, reason)
    }

    fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    /// The array under `key`; empty if missing.
    pub fn items(&self, key: &str) -> Result<Vec<Element<'a>>, FormatError> {
        let path = self.path_of(key);
        match self.value.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items
                .iter()
                .enumerate()
                .map(|(index, value)| Element {
                    value,
                    path: format!("{path}[{index}]"),
                })
                .collect()),
            Some(_) => Err(FormatError::invalid(path, "is not an array")),
        }
    }

    /// A count or offset; `default` if missing.
    pub fn uint(&self, key: &str, default: usize) -> Result<usize, FormatError> {
        match self.value.get(key) {
            None => Ok(default),
            Some(value) => as_uint(value).ok_or_else(|| {
                FormatError::invalid(self.path_of(key), "is not a non-negative integer")
            }),
        }
    }

    /// An index into a list of `count` elements, if present.
    pub fn optional_index(&self, key: &str, count: usize) -> Result<Option<usize>, FormatError> {
        self.value
            .get(key)
            .map(|value| check_index(value, count, || self.path_of(key)))
            .transpose()
    }

    /// A required index into a list of `count` elements.
    pub fn index(&self, key: &str, count: usize) -> Result<usize, FormatError> {
        self.optional_index(key, count)?
            .ok_or_else(|| self.invalid(format!("has no '{key}'")))
    }

    /// An array of indices into a list of `count` elements.
    pub fn indices(&self, key: &str, count: usize) -> Result<Vec<usize>, FormatError> {
        self.items(key)?
            .iter()
            .map(|item| check_index(item.value, count, || item.path.clone()))
            .collect()
    }

    /// `N` finite numbers, if present.
    pub fn floats<const N: usize>(&self, key: &str) -> Result<Option<[f32; N]>, FormatError> {
        let Some(value) = self.value.get(key) else {
            return Ok(None);
        };
        let wrong = || FormatError::invalid(self.path_of(key), format!("is not {N} numbers"));
        let items = value.as_array().ok_or_else(wrong)?;
        if items.len() != N {
            return Err(wrong());
        }
        let mut numbers = [0.0; N];
        for (number, item) in numbers.iter_mut().zip(items) {
            *number = item.as_f64().ok_or_else(wrong)? as f32;
            if !number.is_finite() {
                return Err(FormatError::NotFinite {
                    element: self.path_of(key),
                });
            }
        }
        Ok(Some(numbers))
    }

    /// A list of numbers; empty if missing or not a list.
    pub fn float_list(&self, key: &str) -> Vec<f32> {
        let items = self.value.get(key).and_then(Value::as_array);
        items
            .into_iter()
            .flatten()
            .map(|item| item.as_f64().unwrap_or(0.0) as f32)
            .map(|number| if number.is_finite() { number } else { 0.0 })
            .collect()
    }

    /// Text; empty if missing.
    pub fn text(&self, key: &str) -> String {
        let text = self.value.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    }

    pub fn flag(&self, key: &str) -> bool {
        self.value
            .get(key)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }
}

/// A non-negative integer, also if written as `3.0`.
pub(super) fn as_uint(value: &Value) -> Option<usize> {
    if let Some(number) = value.as_u64() {
        return usize::try_from(number).ok();
    }
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0 && number < u32::MAX as f64).then_some(number as usize)
}

fn check_index(
    value: &Value,
    count: usize,
    path: impl Fn() -> String,
) -> Result<usize, FormatError> {
    match as_uint(value) {
        Some(index) if index < count => Ok(index),
        Some(index) => Err(FormatError::invalid(
            path(),
            format!("refers to element {index}, but there are only {count}"),
        )),
        None => Err(FormatError::invalid(path(), "is not an index")),
    }
}
