//! Descriptors agree with the schemes that they describe.

use weft_fabric::{LinkSpec, build};
use weft_switching::{Blueprint, Need, SchemeVisitor, registry, visit_scheme};

use crate::common::{SEED, routes, scheme};

/// Whether the scheme has a controller, and whether its hosts ask for addresses.
struct Asked;

impl SchemeVisitor for Asked {
    type Output = [bool; 2];

    fn visit<B: Blueprint>(self, blueprint: B) -> [bool; 2] {
        [blueprint.central().is_some(), blueprint.arp_cache().is_some()]
    }
}

#[test]
fn every_descriptor_has_a_constructor_and_says_what_it_builds() {
    let fabric = build::fat_tree(4, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let routes = routes(&fabric, &[]);
    for known in registry() {
        let found = visit_scheme(&scheme(known.name), &fabric, &routes, SEED, Asked);
        let said = [known.needs.contains(&Need::Controller), known.explores.is_some()];
        assert_eq!(found, Ok(said), "{}", known.name);
    }
}

#[test]
fn a_scheme_without_changed_parameters_fits_and_contradicts_nothing() {
    let fabric = build::fat_tree(4, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    assert!(registry().is_sorted_by_key(|known| known.name));
    for known in registry() {
        let spec = scheme(known.name);
        assert_eq!((known.contradiction)(&spec), None, "{}", known.name);
        assert_eq!(known.misfit.and_then(|misfit| misfit(&spec, &fabric)), None, "{}", known.name);
    }
}
