//! A connection whose reads and writes end at a deadline, however little each of them transfers.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Timeout of an idle connection.
const IDLE: Duration = Duration::from_secs(10);

/// A stream with a deadline.
pub struct Deadline<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl<'a> Deadline<'a> {
    /// Reads and writes fail once `seconds` have passed.
    pub fn after(stream: &'a TcpStream, seconds: u64) -> Self {
        let end = Instant::now() + Duration::from_secs(seconds);
        Self { stream, end }
    }

    /// Time for the next operation.
    fn patience(&self) -> io::Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(Some(left.min(IDLE))),
        }
    }
}

impl Read for Deadline<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.patience()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Deadline<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.patience()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn a_connection_that_dribbles_ends_at_the_deadline() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        std::thread::spawn(move || {
            while slow.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let mut received = Vec::new();
        let error = Deadline::after(&stream, 1)
            .read_to_end(&mut received)
            .unwrap_err();
        // Systems name an expired timeout differently.
        let expired = [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock];
        assert!(expired.contains(&error.kind()), "{error}");
        assert!(received.len() > 2, "{received:?}");
    }
}
