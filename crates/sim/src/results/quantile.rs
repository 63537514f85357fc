//! The definition of a quantile in results; `weft.samples.quantile` is the same in Python.

/// The `share` quantile (0 to 1) of `sorted`, interpolated linearly between the two nearest values: type 7
/// of Hyndman and Fan (The American Statistician 50, 1996), the default of NumPy and R. `None` if empty.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let below = sorted[place as usize];
    let above = sorted[place.ceil() as usize];
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn a_quantile_is_interpolated_between_its_neighbours() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(quantile(&ten, 0.5), Some(5.5));
        assert!((quantile(&ten, 0.99).unwrap() - 9.91).abs() < 1e-12);
        assert_eq!([0.0, 1.0].map(|share| quantile(&ten, share)), [Some(1.0), Some(10.0)]);
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
