//! [`Buckets`]: items by a number that each of them has, in order.

/// The items 0, 1, 2 and so on in buckets.
pub(crate) struct Buckets {
    items: Vec<u32>,
    /// Index of the first item of each bucket, and the end of the last.
    first: Vec<u32>,
}

impl Buckets {
    /// `count` buckets, with each item in that of its number; items with no number are in none.
    pub(crate) fn new(count: usize, numbers: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let mut first = vec![0_u32; count + 1];
        for number in numbers.clone().flatten() {
            first[number + 1] += 1;
        }
        for at in 0..count {
            first[at + 1] += first[at];
        }
        let (mut next, mut items) = (first.clone(), vec![0; first[count] as usize]);
        for (item, number) in (0..).zip(numbers) {
            if let Some(number) = number {
                let slot = &mut next[number];
                items[*slot as usize] = item;
                *slot += 1;
            }
        }
        Self { items, first }
    }

    /// The items of a bucket.
    pub(crate) fn of(&self, number: usize) -> &[u32] {
        &self.items[self.first[number] as usize..self.first[number + 1] as usize]
    }

    /// The number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.first.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_has_its_items_in_order() {
        let buckets = Buckets::new(4, [Some(2), None, Some(0), Some(2), Some(2)].into_iter());
        let all: Vec<&[u32]> = (0..buckets.len()).map(|number| buckets.of(number)).collect();
        assert_eq!(all, [&[2][..], &[], &[0, 3, 4], &[]]);
    }
}
