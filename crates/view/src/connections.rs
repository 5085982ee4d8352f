//! The open connections. When there are too many, the one that has kept the server waiting longest has to go.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most simultaneous connections; a browser opens six.
const MAX_CONNECTIONS: usize = 32;

/// The open connections.
#[derive(Clone, Default)]
pub struct Connections(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    next: u64,
    open: usize,
    /// Connections whose request has not arrived completely, oldest first.
    waiting: BTreeMap<u64, TcpStream>,
}

/// An open connection, until it is dropped.
pub struct Connection {
    connections: Connections,
    number: u64,
}

impl Connections {
    /// Admits a connection. If there are too many, the oldest one without a complete request is closed; `None` if all have one.
    pub fn admit(&self, stream: &TcpStream) -> Option<Connection> {
        let waiting = stream.try_clone().ok()?;
        let mut inner = self.lock();
        if inner.open >= MAX_CONNECTIONS {
            let (_, oldest) = inner.waiting.pop_first()?;
            // It counts until its thread has noticed.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        inner.open += 1;
        inner.next += 1;
        let number = inner.next;
        inner.waiting.insert(number, waiting);
        Some(Connection {
            connections: self.clone(),
            number,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// The request has arrived: the connection is kept until it is answered.
    pub fn has_asked(&self) {
        self.connections.lock().waiting.remove(&self.number);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut inner = self.connections.lock();
        inner.waiting.remove(&self.number);
        inner.open -= 1;
    }
}
