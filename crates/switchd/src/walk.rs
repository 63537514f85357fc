//! Hash maps of the data plane from end to end, many entries a system call (BPF_MAP_LOOKUP_BATCH and
//! BPF_MAP_DELETE_BATCH, Linux 5.6): a table of a million flows is a thousand calls, and entries that
//! come and go meanwhile do not make the walk start again.

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

/// Entries of a batch at first; where a bucket of the map has more, more are asked for.
const BATCH: usize = 1024;
/// Entries of the fullest bucket that is thought possible.
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

/// A hash map that is pinned, whose keys are `K` and values `V`.
pub struct Walk<K, V> {
    data: MapData,
    entries: PhantomData<(K, V)>,
}

impl<K: Pod, V: Pod> Walk<K, V> {
    /// Opens the map that is pinned at `path`.
    ///
    /// # Errors
    /// [`PlaneError`]: there is none, or one of another make.
    pub fn open(path: &Path) -> Result<Self, PlaneError> {
        let data = MapData::from_pin(path)?;
        let info = data.info()?;
        if (info.key_size() as usize, info.value_size() as usize) != (size_of::<K>(), size_of::<V>()) {
            let error = io::Error::other("is a map of another make");
            return Err(PlaneError::Pin { path: path.to_owned(), error });
        }
        Ok(Self { data, entries: PhantomData })
    }

    /// The entries of a map of a program that is loaded.
    ///
    /// # Errors
    /// [`PlaneError`]: it is no hash map, or one of another make.
    pub(crate) fn of(map: &Map) -> Result<Self, PlaneError> {
        // It looks at the make.
        HashMap::<_, K, V>::try_from(map)?;
        let (Map::HashMap(data) | Map::LruHashMap(data)) = map else {
            return Err(PlaneError::Missing("a hash map"));
        };
        let data = MapData::from_fd(data.fd().as_fd().try_clone_to_owned()?)?;
        Ok(Self { data, entries: PhantomData })
    }

    /// All entries, in no promised order.
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

    /// Shows all entries, a batch at a time.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn each(&self, mut see: impl FnMut(&[K], &[V])) -> io::Result<()> {
        // SAFETY: of `Pod` any bytes are a value.
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
            // SAFETY: keys and values have room for `count` of the map's sizes, the places are of 32 bits,
            // as a hash map has them.
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

    /// Takes entries out; those that are gone already are no fault. Gives how many were there.
    ///
    /// # Errors
    /// What the kernel says.
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
                // It stops at one that is gone.
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => at += count + 1,
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<V> {
        // SAFETY: of `Pod` any bytes are a value.
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

    /// Gives a key a value.
    ///
    /// # Errors
    /// What the kernel says, such as that the map is full.
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
