//! Endpoints: names with slices as in Python, such as `cx5[0:2].port[0]`.

use super::document::Scheme;
use crate::visible;

/// A component of a copy of an instance: the instance, the copy, and the number of the component in its device.
pub(super) type Spot = (usize, u32, u32);

/// A name with the indices it selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece<'t> {
    pub name: &'t str,
    /// Between the brackets; `None` selects all.
    slice: Option<&'t str>,
}

impl<'t> Piece<'t> {
    /// Reads `name`, `name[1]`, `name[0:8]` or `name[0:8:2]`.
    pub fn read(text: &'t str) -> Result<Self, String> {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('[') else { return Ok(Self { name: text, slice: None }) };
        match rest.strip_suffix(']') {
            Some(slice) => Ok(Self { name, slice: Some(slice.trim()) }),
            None => Err(format!("`{}` has no closing `]` at its end", visible(text))),
        }
    }

    /// The first index, the end and the step, of `count` things.
    pub fn range(&self, count: u32) -> Result<(u32, u32, u32), String> {
        let Some(slice) = self.slice.filter(|slice| !slice.is_empty()) else { return Ok((0, count, 1)) };
        let bad = || {
            format!(
                "`[{}]` is not an index or a slice of whole numbers from 0, such as [3], [0:4] or [0:8:2]",
                visible(slice)
            )
        };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| bad());
        let or = |text: Option<&str>, default: u32| match text.map(str::trim) {
            None | Some("") => Ok(default),
            Some(text) => number(text),
        };
        let mut parts = slice.split(':');
        let first = parts.next();
        let (start, stop, step) = match parts.next() {
            None => {
                let index = number(slice)?;
                (index, index.saturating_add(1), 1)
            }
            second => (or(first, 0)?, or(second, count)?, or(parts.next(), 1)?),
        };
        if parts.next().is_some() || step == 0 {
            return Err(bad());
        }
        if stop > count {
            return Err(format!(
                "`{}[{}]` is out of range: there {} {count}, with the indices from 0",
                visible(self.name),
                visible(slice),
                if count == 1 { "is" } else { "are" }
            ));
        }
        if start >= stop {
            return Err(format!("`{}[{}]` selects nothing", visible(self.name), visible(slice)));
        }
        Ok((start, stop, step))
    }
}

/// The indices of a range.
pub(super) fn indices((start, stop, step): (u32, u32, u32)) -> impl Iterator<Item = u32> {
    (start..stop).step_by(step as usize)
}

/// How many indices a range has.
pub(super) fn index_count((start, stop, step): (u32, u32, u32)) -> u64 {
    u64::from(stop.saturating_sub(start).div_ceil(step))
}

/// How many pairs a scheme makes of two lists of these lengths.
pub(super) fn pair_count(scheme: Scheme, [a, b]: [usize; 2]) -> u64 {
    match scheme {
        Scheme::OneToOne => a.min(b) as u64,
        Scheme::ManyToMany => (a as u64).saturating_mul(b as u64),
    }
}

/// The pairs that a scheme makes of two lists.
pub(super) fn pairs<T: Copy>(scheme: Scheme, a: &[T], b: &[T]) -> Vec<(T, T)> {
    match scheme {
        Scheme::OneToOne => a.iter().copied().zip(b.iter().copied()).collect(),
        Scheme::ManyToMany => a.iter().flat_map(|a| b.iter().map(|b| (*a, *b))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_those_of_python() {
        let read = |text, count| {
            Piece::read(text)
                .and_then(|piece| piece.range(count))
                .map(|range| indices(range).collect::<Vec<_>>())
        };
        for (text, found) in [
            ("x", vec![0, 1, 2, 3]),
            ("x[]", vec![0, 1, 2, 3]),
            ("x[:]", vec![0, 1, 2, 3]),
            ("x[2]", vec![2]),
            ("x[1:3]", vec![1, 2]),
            ("x[2:]", vec![2, 3]),
            ("x[:2]", vec![0, 1]),
            ("x[0:4:2]", vec![0, 2]),
            ("x[1::2]", vec![1, 3]),
        ] {
            assert_eq!(read(text, 4), Ok(found), "{text}");
        }
        for (text, expected) in [
            ("x[4]", "`x[4]` is out of range: there are 4, with the indices from 0"),
            ("x[4294967295]", "`x[4294967295]` is out of range"),
            ("x[0:5]", "`x[0:5]` is out of range"),
            ("x[2:2]", "`x[2:2]` selects nothing"),
            ("x[-1]", "`[-1]` is not an index or a slice"),
            ("x[0:4:0]", "`[0:4:0]` is not"),
            ("x[0:1:1:1]", "`[0:1:1:1]` is not"),
            ("x[a]", "`[a]` is not"),
            ("x[1", "`x[1` has no closing `]`"),
        ] {
            let error = read(text, 4).unwrap_err();
            assert!(error.contains(expected), "{error}\nexpected: {expected}");
        }
    }
}
