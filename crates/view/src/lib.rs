//! The local web server of the page: serves the page's files and the file given on the command line.
//!
//! It listens on 127.0.0.1 only. Requests from other sites' pages are refused: a browser sends the origin of a
//! request (`Origin`, `Sec-Fetch-Site`) and the host name it used (`Host`), and all three must be the server's own. Served
//! paths are a fixed list, so no path of a request ever reaches the file system. A connection has a deadline, and when there are
//! too many, the one that has kept the server waiting longest is closed.
#![forbid(unsafe_code)]

mod connections;
mod convert;
mod deadline;
mod http;
mod page;
mod server;

pub use page::is_built;
pub use server::{Server, Shown, ViewError};
