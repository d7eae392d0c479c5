//! zstd, frame by frame.
//!
//! ruzstd's encoder takes all of its input at once and has one level that works. So the input is cut into frames of a
//! few megabytes, which every decoder reads as one file.

use std::io::{self, BufRead, Read, Write};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// The bytes in a frame: far more than its window, so that little is lost between frames.
const FRAME: usize = 4 << 20;

/// The largest window of a frame. zstd's own limit without `--long` is 128 MiB, which is more than a process here may
/// have to spare, and a hostile frame may ask for all memory.
const LARGEST_WINDOW: u64 = 64 << 20;

/// A writer that compresses.
pub(crate) struct ZstdWriter<W: Write> {
    sink: W,
    pending: Vec<u8>,
    frames: usize,
}

impl<W: Write> ZstdWriter<W> {
    pub(super) fn new(sink: W) -> ZstdWriter<W> {
        ZstdWriter { sink, pending: Vec::new(), frames: 0 }
    }

    fn end_frame(&mut self) -> io::Result<()> {
        let frame = compress_to_vec(self.pending.as_slice(), CompressionLevel::Fastest);
        self.pending.clear();
        self.frames += 1;
        self.sink.write_all(&frame)
    }

    /// Writes the last frame. An empty input is a frame too.
    pub(super) fn finish(mut self) -> io::Result<W> {
        if !self.pending.is_empty() || self.frames == 0 {
            self.end_frame()?;
        }
        Ok(self.sink)
    }
}

impl<W: Write> Write for ZstdWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(FRAME - self.pending.len());
        self.pending.extend_from_slice(&bytes[..count]);
        if self.pending.len() == FRAME {
            self.end_frame()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// A reader of all frames of a source.
pub(super) struct ZstdReader<R: BufRead> {
    state: State<R>,
}

enum State<R: BufRead> {
    Between(R),
    Inside(Box<StreamingDecoder<R, FrameDecoder>>),
    Over,
}

impl<R: BufRead> ZstdReader<R> {
    pub(super) fn new(source: R) -> ZstdReader<R> {
        ZstdReader { state: State::Between(source) }
    }

    /// Starts the next frame, if there is one.
    fn start(mut source: R) -> io::Result<State<R>> {
        loop {
            let first = source.fill_buf()?;
            let Some(magic) = first.first() else {
                return Ok(State::Over);
            };
            // Skippable frames hold data of other programs.
            if !matches!(magic, 0x50..=0x5f) {
                break;
            }
            let mut header = [0; 8];
            source.read_exact(&mut header)?;
            if header[1..4] != [0x2a, 0x4d, 0x18] {
                return Err(wrong("unsupported format"));
            }
            let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
            io::copy(&mut (&mut source).take(length.into()), &mut io::sink())?;
        }
        let decoder = StreamingDecoder::new_with_max_window_size(source, LARGEST_WINDOW);
        decoder.map(|decoder| State::Inside(Box::new(decoder))).map_err(|error| wrong(&error.to_string()))
    }
}

fn wrong(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return Ok(0),
                State::Between(source) => self.state = ZstdReader::start(source)?,
                State::Inside(mut decoder) => {
                    let count = decoder.read(buffer)?;
                    if count > 0 {
                        self.state = State::Inside(decoder);
                        return Ok(count);
                    }
                    let (source, decoder) = decoder.into_parts();
                    let stored = decoder.get_checksum_from_data();
                    if stored.is_some() && stored != decoder.get_calculated_checksum() {
                        return Err(wrong("checksum does not match"));
                    }
                    self.state = State::Between(source);
                }
            }
        }
    }
}
