//! Walks over whole hash maps of the data plane, many entries per system call (BPF_MAP_LOOKUP_BATCH and
//! BPF_MAP_DELETE_BATCH, Linux 5.6): a table of a million flows takes a thousand calls, and concurrent insertions and
//! removals do not restart the walk.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use aya::Pod;
use aya::maps::{HashMap, Map, MapData};

use crate::error::PlaneError;
use crate::sys::bpf;

const BPF_MAP_LOOKUP_ELEM: libc::c_long = 1;
const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;
const BPF_MAP_LOOKUP_BATCH: libc::c_long = 24;
const BPF_MAP_DELETE_BATCH: libc::c_long = 27;

/// Initial number of entries per batch; increased if a bucket of the map has more.
const BATCH: usize = 1024;
/// Upper bound for the entries of one bucket.
const MOST: usize = 1 << 16;

/// `struct { ... } batch` of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct BatchAttr {
    in_batch: u64,
    out_batch: u64,
    keys: u64,
    values: u64,
    count: u32,
    map_fd: u32,
    elem_flags: u64,
    flags: u64,
}

/// `struct { ... }` of `union bpf_attr` for one element.
#[repr(C)]
struct ElementAttr {
    map_fd: u32,
    reserved: u32,
    key: u64,
    value: u64,
    flags: u64,
}

fn pointer<T>(slice: &[T]) -> u64 {
    slice.as_ptr() as u64
}

/// A hash map with keys `K` and values `V`.
pub struct Walk<K, V> {
    data: MapData,
    entries: PhantomData<(K, V)>,
}

impl<K: Pod, V: Pod> Walk<K, V> {
    /// Opens the map pinned at `path`.
    ///
    /// # Errors
    /// [`PlaneError`] if there is none, or its key or value size differs.
    pub fn open(path: &Path) -> Result<Self, PlaneError> {
        let data = MapData::from_pin(path)?;
        let info = data.info()?;
        if (info.key_size() as usize, info.value_size() as usize) != (size_of::<K>(), size_of::<V>()) {
            let error = io::Error::other("the map has another key or value size");
            return Err(PlaneError::Pin { path: path.to_owned(), error });
        }
        Ok(Self { data, entries: PhantomData })
    }

    /// Opens a map of a loaded program.
    ///
    /// # Errors
    /// [`PlaneError`] if it is not a hash map, or its key or value size differs.
    pub(crate) fn of(map: &Map) -> Result<Self, PlaneError> {
        // This checks the sizes.
        HashMap::<_, K, V>::try_from(map)?;
        let (Map::HashMap(data) | Map::LruHashMap(data)) = map else {
            return Err(PlaneError::Missing("hash map"));
        };
        let data = MapData::from_fd(data.fd().as_fd().try_clone_to_owned()?)?;
        Ok(Self { data, entries: PhantomData })
    }

    /// All entries, in no particular order.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn entries(&self) -> io::Result<Vec<(K, V)>> {
        let mut entries = Vec::new();
        self.each(|keys, values| entries.extend(keys.iter().copied().zip(values.iter().copied())))?;
        Ok(entries)
    }

    fn fd(&self) -> u32 {
        self.data.fd().as_fd().as_raw_fd() as u32
    }

    /// Passes all entries to `see`, one batch at a time.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn each(&self, mut see: impl FnMut(&[K], &[V])) -> io::Result<()> {
        // SAFETY: any bytes are a valid `Pod` value.
        let (no_key, no_value): (K, V) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        let (mut keys, mut values) = (vec![no_key; BATCH], vec![no_value; BATCH]);
        let (mut from, mut to) = ([0_u32], [0_u32]);
        let mut first = true;
        loop {
            let mut attr = BatchAttr {
                in_batch: if first { 0 } else { pointer(&from) },
                out_batch: pointer(&to),
                keys: pointer(&keys),
                values: pointer(&values),
                count: keys.len() as u32,
                map_fd: self.fd(),
                ..BatchAttr::default()
            };
            // SAFETY: keys and values have room for `count` entries of the map's sizes; batch positions of a hash map
            // have 32 bits.
            let done = unsafe { bpf(BPF_MAP_LOOKUP_BATCH, &mut attr) };
            let count = (attr.count as usize).min(keys.len());
            match done {
                Ok(_) => see(&keys[..count], &values[..count]),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                    see(&keys[..count], &values[..count]);
                    return Ok(());
                }
                Err(error) if error.raw_os_error() == Some(libc::ENOSPC) && keys.len() < MOST => {
                    keys.resize(keys.len() * 2, no_key);
                    values.resize(keys.len(), no_value);
                    continue;
                }
                Err(error) => return Err(error),
            }
            std::mem::swap(&mut from, &mut to);
            to = [0];
            first = false;
        }
    }

    /// Removes entries, ignoring missing ones; returns the number removed.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn remove(&self, keys: &[K]) -> io::Result<usize> {
        let (mut at, mut removed) = (0, 0);
        while at < keys.len() {
            let rest = &keys[at..];
            let mut attr = BatchAttr {
                keys: pointer(rest),
                count: rest.len() as u32,
                map_fd: self.fd(),
                ..BatchAttr::default()
            };
            // SAFETY: there are `count` keys of the map's size.
            let done = unsafe { bpf(BPF_MAP_DELETE_BATCH, &mut attr) };
            let count = (attr.count as usize).min(rest.len());
            removed += count;
            match done {
                Ok(_) => return Ok(removed),
                // The kernel stops at a missing entry.
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => at += count + 1,
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<V> {
        // SAFETY: any bytes are a valid `Pod` value.
        let mut value: V = unsafe { std::mem::zeroed() };
        let mut attr = ElementAttr {
            map_fd: self.fd(),
            reserved: 0,
            key: std::ptr::from_ref(key) as u64,
            value: std::ptr::from_mut(&mut value) as u64,
            flags: 0,
        };
        // SAFETY: key and value have the map's sizes.
        unsafe { bpf(BPF_MAP_LOOKUP_ELEM, &mut attr) }.ok()?;
        Some(value)
    }

    /// Inserts or replaces an entry.
    ///
    /// # Errors
    /// The kernel's error, for example if the map is full.
    pub fn insert(&self, key: &K, value: &V) -> io::Result<()> {
        let mut attr = ElementAttr {
            map_fd: self.fd(),
            reserved: 0,
            key: std::ptr::from_ref(key) as u64,
            value: std::ptr::from_ref(value) as u64,
            flags: 0,
        };
        // SAFETY: key and value have the map's sizes.
        unsafe { bpf(BPF_MAP_UPDATE_ELEM, &mut attr) }.map(drop)
    }
}
