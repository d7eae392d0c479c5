//! The passing of descriptors over a socket: each message is one byte with its descriptors.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// The largest number of descriptors in a message.
const MOST: usize = 2;

/// Sends a byte and these descriptors. The sender keeps its own.
pub(super) fn send(socket: impl AsFd, byte: u8, handles: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !handles.is_empty() && !control.push(SendAncillaryMessage::ScmRights(handles)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(socket, &[IoSlice::new(&[byte])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives the next byte and its descriptors; `None` at the end. Programs that this process starts do not inherit them.
pub(super) fn receive(socket: impl AsFd) -> io::Result<Option<(u8, Vec<OwnedFd>)>> {
    let (mut byte, mut handles) = ([0], Vec::new());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            handles.extend(more);
        }
    }
    Ok((received.bytes > 0).then_some((byte[0], handles)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn each_message_keeps_its_own_descriptors() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut first, second) = UnixStream::pair().unwrap();
        send(&ours, 7, &[second.as_fd()]).unwrap();
        send(&ours, 8, &[]).unwrap();
        drop((ours, second));
        let (byte, mut handles) = receive(&theirs).unwrap().unwrap();
        assert_eq!((byte, handles.len()), (7, 1));
        UnixStream::from(handles.remove(0)).write_all(b"through").unwrap();
        let mut said = String::new();
        first.read_to_string(&mut said).unwrap();
        assert_eq!(said, "through");
        assert_eq!(receive(&theirs).unwrap().unwrap().1.len(), 0);
        assert!(receive(&theirs).unwrap().is_none());
    }
}
