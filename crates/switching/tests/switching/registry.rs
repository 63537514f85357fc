//! Descriptors agree with the schemes that they describe.

use weft_fabric::{Fabric, LinkSpec, build};
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

/// A fabric on which a scheme runs.
fn fitting(name: &str) -> Fabric {
    let link = LinkSpec::default();
    match name {
        "conga" => build::spine_leaf(2, 3, 2, &link, &link).unwrap(),
        _ => build::fat_tree(4, &link, &link).unwrap(),
    }
}

#[test]
fn every_descriptor_has_a_constructor_and_says_what_it_builds() {
    for known in registry() {
        let fabric = fitting(known.name);
        let routes = routes(&fabric, &[]);
        let found = visit_scheme(&scheme(known.name), &fabric, &routes, SEED, Asked);
        let said = [known.needs.contains(&Need::Controller), known.explores.is_some()];
        assert_eq!(found, Ok(said), "{}", known.name);
    }
}

#[test]
fn a_scheme_without_changed_parameters_fits_and_contradicts_nothing() {
    assert!(registry().is_sorted_by_key(|known| known.name));
    for known in registry() {
        let (spec, fabric) = (scheme(known.name), fitting(known.name));
        assert_eq!(known.contradiction_of(&spec), None, "{}", known.name);
        assert_eq!(known.misfit.and_then(|misfit| misfit(&spec, &fabric)), None, "{}", known.name);
    }
}
