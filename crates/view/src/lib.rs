//! The local server of the page: its own files, and the one file it was asked to show.
//!
//! It listens on 127.0.0.1 and on nothing else. Requests from other sites' pages are refused: a browser says where a
//! request comes from (`Origin`, `Sec-Fetch-Site`) and which name it used (`Host`), and all three must be ours. What is
//! served is a list made beforehand, so no path of a request ever reaches the file system.
#![forbid(unsafe_code)]

mod convert;
mod http;
mod page;
mod server;

pub use page::is_built;
pub use server::{Server, Shown, ViewError};
