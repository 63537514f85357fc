//! [`Content`]: the extension that a module provides, a [`Scheme`] or a [`CongestionController`].

use std::marker::PhantomData;
use std::path::Path;

use weft_fabric::{LinkSpec, read};
use weft_scenario::Plan;
use weft_sim::engine::Progress;
use weft_sim::record::{Recorder, RunReport};
use weft_sim::run::{RunError, run, run_own, run_own_to_directory, run_to_directory};
use weft_switching::{Descriptor, SchemeError, Schemes};
use weft_transport::ControllerInfo;

use crate::congestion::{CongestionController, info};
use crate::message::{Check, Described, DescribedController, Extension, ParamError};
use crate::scheme::{Scheme, Setting};

/// The extension that a module provides.
pub trait Content {
    /// Its description.
    fn describe() -> Extension;

    /// The problem with parameters, or with parameters on a fabric.
    ///
    /// # Errors
    /// The question cannot be read.
    fn check(question: &Check) -> Result<Option<ParamError>, String>;

    /// Adds it to the names that scenarios may use.
    fn add(schemes: &mut Schemes);

    /// Whether the run of `plan` has it.
    fn is_in(plan: &Plan) -> bool;

    /// Carries out a run.
    ///
    /// # Errors
    /// The scheme does not run on the fabric.
    fn run(plan: &Plan, recorder: &mut dyn Recorder) -> Result<RunReport, SchemeError>;

    /// Carries out a run and writes its result, with the text of the scenario, to the directory `target`.
    ///
    /// # Errors
    /// The run failed; no partial result is left.
    fn write(
        plan: &Plan,
        target: &Path,
        scenario: &str,
        threads: usize,
        progress: &Progress,
    ) -> Result<Option<RunReport>, RunError>;
}

/// A scheme.
pub struct OfScheme<S>(PhantomData<S>);

impl<S: Scheme> OfScheme<S> {
    const OWN: &'static Descriptor = &S::DESCRIPTOR;

    fn setting<'a>(plan: &'a Plan, routes: &'a std::sync::Arc<weft_switching::Forwarding>) -> Setting<'a> {
        Setting { fabric: &plan.fabric, routes, seed: plan.seed, parameters: &plan.scheme }
    }
}

impl<S: Scheme> Content for OfScheme<S> {
    fn describe() -> Extension {
        Extension::Scheme(Box::new(Described::from(Self::OWN)))
    }

    fn check(Check { spec, fabric }: &Check) -> Result<Option<ParamError>, String> {
        let wrong = match fabric {
            None => Self::OWN.contradiction_of(spec),
            Some(text) => {
                let fabric = read::file("fabric.toml", text.as_bytes(), &LinkSpec::default());
                Self::OWN.misfit_of(spec, &fabric.map_err(|error| error.to_string())?)
            }
        };
        Ok(wrong.map(ParamError::from))
    }

    fn add(schemes: &mut Schemes) {
        schemes.modules.push(Self::OWN);
    }

    fn is_in(plan: &Plan) -> bool {
        plan.scheme.name == Self::OWN.name
    }

    fn run(plan: &Plan, recorder: &mut dyn Recorder) -> Result<RunReport, SchemeError> {
        let make = |routes: &_| S::new(&Self::setting(plan, routes));
        Ok(run_own(plan, make, 1, &Progress::default(), recorder))
    }

    fn write(
        plan: &Plan,
        target: &Path,
        scenario: &str,
        threads: usize,
        progress: &Progress,
    ) -> Result<Option<RunReport>, RunError> {
        let make = |routes: &_| S::new(&Self::setting(plan, routes));
        run_own_to_directory(plan, make, target, scenario, threads, progress)
    }
}

/// A congestion controller.
pub struct OfController<C>(PhantomData<C>);

impl<C: CongestionController> OfController<C> {
    const OWN: &'static ControllerInfo = &info::<C>();
}

impl<C: CongestionController> Content for OfController<C> {
    fn describe() -> Extension {
        Extension::Controller(DescribedController::from(Self::OWN))
    }

    fn check(_question: &Check) -> Result<Option<ParamError>, String> {
        Ok(None)
    }

    fn add(schemes: &mut Schemes) {
        schemes.controllers.push(Self::OWN);
    }

    fn is_in(plan: &Plan) -> bool {
        plan.transport.protocol.controller() == Some(Self::OWN)
    }

    fn run(plan: &Plan, recorder: &mut dyn Recorder) -> Result<RunReport, SchemeError> {
        run(plan, &Progress::default(), recorder)
    }

    fn write(
        plan: &Plan,
        target: &Path,
        scenario: &str,
        threads: usize,
        progress: &Progress,
    ) -> Result<Option<RunReport>, RunError> {
        let outcome = run_to_directory(plan, target, scenario, None, threads, progress)?;
        Ok(outcome.map(|(report, _)| report))
    }
}
