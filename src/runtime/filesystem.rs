//! wasi:filesystem over the VFS.
//!
//! A directory descriptor is a path without links: the VFS works by paths, and the only preopened directory is the
//! sandbox's root. All calls but `sync` are synchronous: none waits for anything but the host's disk.

// The code that `bindgen!` generates re-exports these types, and a re-export cannot be narrower than `pub`.
#![allow(unreachable_pub)]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use wasmtime::Result;
use wasmtime::component::{Resource, ResourceTableError};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use super::bindings::wasi::filesystem::preopens;
use super::bindings::wasi::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, MetadataHashValue,
    NewTimestamp, OpenFlags, PathFlags,
};
use super::guest::Guest;
use super::stdio::{Input, Output};
use crate::error::Errno;
use crate::kernel::{Handle, OpenFile, Slot};
use crate::limits::TRANSFER_BYTES;
use crate::path::GuestPath;
use crate::vfs::{DirEntry, File, Kind, OpenDirectory, OpenHow, SetTime, Stat, Vfs};

/// The error of a call.
pub enum FsError {
    /// A code for the guest.
    Errno(Errno),
    /// An invalid handle, which ends the process: our own programs never use one.
    Handle(ResourceTableError),
}

type FsResult<T> = std::result::Result<T, FsError>;

/// A WASI descriptor.
pub struct Descriptor {
    target: Target,
    /// Counts the descriptor among the process's open files.
    _slot: Slot,
}

enum Target {
    /// A file. The guest reads and writes it at offsets that it passes.
    File(Arc<OpenFile>),
    /// A descriptor of the process, opened through /dev/fd, with its shared offset.
    Descriptor(Arc<OpenFile>),
    Directory(GuestPath),
}

/// A directory that is being listed. WASI returns one entry at a time; the directory is read in larger pieces.
pub struct EntryStream {
    directory: OpenDirectory,
    ahead: std::vec::IntoIter<DirEntry>,
    /// Counts the directory among the process's open files.
    _slot: Slot,
}

/// The number of entries that are read ahead.
const ENTRIES_AHEAD: usize = 64;

/// The modes of files and directories that WASI calls create, before the umask: WASI has no modes.
const FILE_MODE: u32 = 0o666;
const DIRECTORY_MODE: u32 = 0o777;

impl From<Errno> for FsError {
    fn from(errno: Errno) -> FsError {
        FsError::Errno(errno)
    }
}

impl From<ResourceTableError> for FsError {
    fn from(error: ResourceTableError) -> FsError {
        FsError::Handle(error)
    }
}

impl Guest {
    fn vfs(&self) -> &Vfs {
        self.process.kernel().vfs()
    }

    fn file(&self, descriptor: &Resource<Descriptor>) -> FsResult<Arc<OpenFile>> {
        match &self.table.get(descriptor)?.target {
            Target::File(file) | Target::Descriptor(file) => Ok(file.clone()),
            Target::Directory(_) => Err(Errno::IsDirectory.into()),
        }
    }

    /// The file of the VFS, for calls that need an offset.
    fn vfs_file(&self, descriptor: &Resource<Descriptor>) -> FsResult<(Arc<OpenFile>, Arc<dyn File>)> {
        let file = self.file(descriptor)?;
        let inner = file.as_file().cloned().ok_or(Errno::Seek)?;
        Ok((file, inner))
    }

    fn directory(&self, descriptor: &Resource<Descriptor>) -> FsResult<&GuestPath> {
        match &self.table.get(descriptor)?.target {
            Target::Directory(path) => Ok(path),
            Target::File(_) | Target::Descriptor(_) => Err(Errno::NotDirectory.into()),
        }
    }

    fn path_at(&self, descriptor: &Resource<Descriptor>, path: &str) -> FsResult<GuestPath> {
        let directory = self.directory(descriptor)?;
        if path.starts_with('/') {
            // In WASI a descriptor is a capability for the tree below it.
            return Err(Errno::NotPermitted.into());
        }
        Ok(GuestPath::parse(directory, path)?)
    }

    fn stat_of(&self, descriptor: &Resource<Descriptor>) -> FsResult<Stat> {
        Ok(match &self.table.get(descriptor)?.target {
            Target::File(file) | Target::Descriptor(file) => file.stat()?,
            Target::Directory(path) => self.vfs().stat(path, true)?,
        })
    }

    fn push_descriptor(&mut self, target: Target) -> FsResult<Resource<Descriptor>> {
        let slot = self.process.open_slot()?;
        Ok(self.table.push(Descriptor { target, _slot: slot })?)
    }
}

impl preopens::Host for Guest {
    fn get_directories(&mut self) -> Result<Vec<(Resource<Descriptor>, String)>> {
        let root = self.push_descriptor(Target::Directory(GuestPath::root()));
        let root = root.map_err(|_| wasmtime::Error::msg("no room for the root directory"))?;
        Ok(vec![(root, "/".to_owned())])
    }
}

impl types::Host for Guest {
    fn convert_error_code(&mut self, error: FsError) -> Result<ErrorCode> {
        match error {
            FsError::Errno(errno) => {
                self.process.note_refusal(errno);
                Ok(errno.into())
            }
            FsError::Handle(error) => Err(error.into()),
        }
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> Result<Option<ErrorCode>> {
        let error = self.table.get(&error)?;
        Ok(error.downcast_ref::<Errno>().map(|errno| ErrorCode::from(*errno)))
    }
}

impl types::HostDescriptor for Guest {
    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynInputStream>> {
        let process = self.process.clone();
        let stream: DynInputStream = match &self.table.get(&fd)?.target {
            Target::Descriptor(file) => Box::new(Input::shared(process, file.clone())),
            _ => Box::new(Input::at(process, self.file(&fd)?, offset)),
        };
        Ok(self.table.push(stream)?)
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynOutputStream>> {
        let process = self.process.clone();
        let stream: DynOutputStream = match &self.table.get(&fd)?.target {
            Target::Descriptor(file) => Box::new(Output::shared(process, file.clone())),
            _ => Box::new(Output::at(process, self.file(&fd)?, offset)),
        };
        Ok(self.table.push(stream)?)
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        let stream: DynOutputStream = Box::new(Output::appending(self.process.clone(), self.file(&fd)?));
        Ok(self.table.push(stream)?)
    }

    fn advise(&mut self, fd: Resource<Descriptor>, _offset: u64, _length: u64, _advice: Advice) -> FsResult<()> {
        // Advice is ignored, but on a directory it is an error.
        self.file(&fd).map(drop)
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.sync(fd).await
    }

    fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        Ok(match &self.table.get(&fd)?.target {
            Target::Directory(_) => DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY,
            Target::File(file) | Target::Descriptor(file) => {
                let access = file.access();
                let mut flags = DescriptorFlags::empty();
                if access.read {
                    flags |= DescriptorFlags::READ;
                }
                if access.write {
                    flags |= DescriptorFlags::WRITE;
                }
                flags
            }
        })
    }

    fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        Ok(descriptor_type(self.stat_of(&fd)?.kind))
    }

    fn set_size(&mut self, fd: Resource<Descriptor>, size: u64) -> FsResult<()> {
        let (file, inner) = self.vfs_file(&fd)?;
        if !file.access().write {
            return Err(Errno::Invalid.into());
        }
        Ok(inner.set_len(size)?)
    }

    fn set_times(&mut self, fd: Resource<Descriptor>, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        let (accessed, modified) = (set_time(accessed)?, set_time(modified)?);
        match &self.table.get(&fd)?.target {
            Target::Directory(path) => self.vfs().set_times(path, accessed, modified, true)?,
            Target::File(file) | Target::Descriptor(file) => {
                file.as_file().ok_or(Errno::Invalid)?.set_times(accessed, modified)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, fd: Resource<Descriptor>, length: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        let (file, inner) = self.vfs_file(&fd)?;
        if !file.access().read {
            return Err(Errno::BadDescriptor.into());
        }
        let max = usize::try_from(length).unwrap_or(TRANSFER_BYTES).min(TRANSFER_BYTES);
        let bytes = inner.read_at(offset, max)?;
        self.process.job().count_read(bytes.len());
        let end = bytes.is_empty() && max > 0;
        Ok((bytes.into(), end))
    }

    fn write(&mut self, fd: Resource<Descriptor>, buffer: Vec<u8>, offset: u64) -> FsResult<u64> {
        let (file, inner) = self.vfs_file(&fd)?;
        if !file.access().write {
            return Err(Errno::BadDescriptor.into());
        }
        let wrote = inner.write_at(offset, &buffer)?;
        self.process.job().count_written(wrote);
        Ok(wrote as u64)
    }

    fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<EntryStream>> {
        let slot = self.process.open_slot()?;
        let directory = self.process.open_dir(self.directory(&fd)?)?;
        Ok(self.table.push(EntryStream { directory, ahead: Vec::new().into_iter(), _slot: slot })?)
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        let file = match &self.table.get(&fd)?.target {
            Target::Directory(_) => None,
            Target::File(file) | Target::Descriptor(file) => file.as_file().cloned(),
        };
        let Some(file) = file else { return Ok(()) };
        // A disk can be slow, and this thread runs processes.
        let synced = tokio::task::spawn_blocking(move || file.sync()).await;
        Ok(synced.unwrap_or(Err(Errno::Io))?)
    }

    fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let mode = self.process.masked(DIRECTORY_MODE);
        Ok(self.vfs().mkdir(&self.path_at(&fd, &path)?, mode)?)
    }

    fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        Ok(descriptor_stat(&self.step.of_file(self.stat_of(&fd)?)))
    }

    fn stat_at(&mut self, fd: Resource<Descriptor>, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let stat = self.process.stat(&self.path_at(&fd, &path)?, follows(flags))?;
        Ok(descriptor_stat(&self.step.of_file(stat)))
    }

    fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let path = self.path_at(&fd, &path)?;
        Ok(self.vfs().set_times(&path, set_time(accessed)?, set_time(modified)?, follows(flags))?)
    }

    fn link_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let (from, to) = (self.path_at(&fd, &path)?, self.path_at(&new_fd, &new_path)?);
        Ok(self.vfs().link(&from, &to, follows(flags))?)
    }

    fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let how = OpenHow {
            read: flags.contains(DescriptorFlags::READ),
            write: flags.contains(DescriptorFlags::WRITE),
            create: open.contains(OpenFlags::CREATE),
            exclusive: open.contains(OpenFlags::EXCLUSIVE),
            truncate: open.contains(OpenFlags::TRUNCATE),
            directory: open.contains(OpenFlags::DIRECTORY),
            nofollow: !follows(path_flags),
            mode: FILE_MODE,
            ..OpenHow::default()
        };
        let path = self.path_at(&fd, &path)?;
        let target = match self.process.open_path(&path, how)? {
            Handle::File(file) => Target::File(file),
            Handle::Descriptor(file) => Target::Descriptor(file.resolve()),
            Handle::Directory(path) => Target::Directory(path),
        };
        self.push_descriptor(target)
    }

    fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        Ok(self.vfs().read_link(&self.path_at(&fd, &path)?)?)
    }

    fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        Ok(self.vfs().rmdir(&self.path_at(&fd, &path)?)?)
    }

    fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let (from, to) = (self.path_at(&fd, &path)?, self.path_at(&new_fd, &new_path)?);
        Ok(self.vfs().rename(&from, &to)?)
    }

    fn symlink_at(&mut self, fd: Resource<Descriptor>, target: String, path: String) -> FsResult<()> {
        Ok(self.vfs().symlink(&target, &self.path_at(&fd, &path)?)?)
    }

    fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        Ok(self.vfs().unlink(&self.path_at(&fd, &path)?)?)
    }

    fn is_same_object(&mut self, one: Resource<Descriptor>, other: Resource<Descriptor>) -> Result<bool> {
        let identity = |fd| self.stat_of(fd).map(|stat| (stat.device, stat.inode));
        Ok(matches!((identity(&one), identity(&other)), (Ok(one), Ok(other)) if one == other))
    }

    fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        Ok(metadata_hash(&self.stat_of(&fd)?))
    }

    fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        Ok(metadata_hash(&self.vfs().stat(&self.path_at(&fd, &path)?, follows(flags))?))
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> Result<()> {
        self.table.delete(fd)?;
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for Guest {
    fn read_directory_entry(&mut self, stream: Resource<EntryStream>) -> FsResult<Option<DirectoryEntry>> {
        let stream = self.table.get_mut(&stream)?;
        if stream.ahead.len() == 0 {
            stream.ahead = stream.directory.next(ENTRIES_AHEAD)?.into_iter();
        }
        Ok(stream.ahead.next().map(|entry| DirectoryEntry { type_: descriptor_type(entry.kind), name: entry.name }))
    }

    fn drop(&mut self, stream: Resource<EntryStream>) -> Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}

fn follows(flags: PathFlags) -> bool {
    flags.contains(PathFlags::SYMLINK_FOLLOW)
}

fn descriptor_type(kind: Kind) -> DescriptorType {
    match kind {
        Kind::File => DescriptorType::RegularFile,
        Kind::Directory => DescriptorType::Directory,
        Kind::Symlink => DescriptorType::SymbolicLink,
        Kind::Device => DescriptorType::CharacterDevice,
        Kind::Pipe => DescriptorType::Fifo,
    }
}

fn descriptor_stat(stat: &Stat) -> DescriptorStat {
    let time = |nanos: u64| {
        let (seconds, nanoseconds) = (nanos / NANOS, (nanos % NANOS) as u32);
        Some(wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime { seconds, nanoseconds })
    };
    DescriptorStat {
        type_: descriptor_type(stat.kind),
        link_count: stat.links,
        size: stat.size,
        data_access_timestamp: time(stat.accessed),
        data_modification_timestamp: time(stat.modified),
        status_change_timestamp: time(stat.changed),
    }
}

const NANOS: u64 = 1_000_000_000;

fn set_time(time: NewTimestamp) -> FsResult<SetTime> {
    Ok(match time {
        NewTimestamp::NoChange => SetTime::Keep,
        NewTimestamp::Now => SetTime::Now,
        NewTimestamp::Timestamp(at) => {
            let nanos = at.seconds.checked_mul(NANOS).and_then(|n| n.checked_add(u64::from(at.nanoseconds)));
            SetTime::At(nanos.ok_or(Errno::Invalid)?)
        }
    })
}

/// Hashes the identity of a file. libc derives inode numbers from it, so the hash must differ between files and must
/// not change while a file is edited.
fn metadata_hash(stat: &Stat) -> MetadataHashValue {
    let mut hasher = DefaultHasher::new();
    (stat.device, stat.inode).hash(&mut hasher);
    MetadataHashValue { lower: stat.inode, upper: hasher.finish() }
}
