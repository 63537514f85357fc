//! [`pack`] and [`unpack`]: the files of all ranks as the content of one: a scenario names them by one path.

/// Stands for the number of the rank in the name of a trace.
pub const RANK: &str = "{rank}";

/// The contents of several files as one: each after its length, in 8 bytes.
pub fn pack(files: &[Vec<u8>]) -> Vec<u8> {
    let framed = |file: &Vec<u8>| [&(file.len() as u64).to_le_bytes()[..], file].concat();
    files.iter().flat_map(framed).collect()
}

/// The files in one; `None` if it has none.
pub(crate) fn unpack(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut files = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk()?;
        let (file, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        files.push(file);
        bytes = rest;
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_again() {
        let files = [b"one".to_vec(), vec![], vec![7; 300]];
        let packed = pack(&files);
        assert_eq!(unpack(&packed).unwrap(), files);
        assert_eq!(unpack(&packed[..packed.len() - 1]), None);
        assert_eq!(unpack(&[255; 8]), None);
    }
}
