//! `sizes` of a `[traffic]` group: a published distribution by name, fixed, uniform, or a CDF file;
//! optionally cut or scaled.

use weft_traffic::{CdfPoint, Sizes, SizesError, published, read_cdf};
use weft_units::Bytes;

use super::Resolver;
use crate::diagnostic::Problem;
use crate::key::{Key, Kind, key};
use crate::nearest::suggest;
use crate::reading::Read;
use crate::section::{At, Section};
use crate::source::Span;
use crate::tree::{Node, Value};

/// The names of the published distributions.
pub(crate) fn names() -> Vec<&'static str> {
    published::ALL.iter().map(|table| table.name).collect()
}

/// The forms of `sizes` that are tables.
pub(crate) const FORMS: &[Key] = &[
    key("fixed", Kind::Bytes, "", "every flow has this size"),
    key("uniform", Kind::Pair(&Kind::Bytes), "", "uniform distribution between the two sizes"),
    key("cdf", Kind::Text, "", "file of a CDF: one `size probability` per line"),
    key(
        "points",
        Kind::List(&Kind::Pair(&Kind::Either(&[Kind::Bytes, Kind::Number]))),
        "",
        "points of the CDF, each a size and the probability of sizes up to it",
    ),
];

/// `sizes` and the changes to it.
#[derive(Clone, Debug)]
pub(crate) struct SizesSettings {
    form: At<Form>,
    truncate: Option<At<Bytes>>,
    clamp: Option<At<Bytes>>,
    scale_to_mean: Option<At<Bytes>>,
}

#[derive(Clone, Debug)]
enum Form {
    Published(&'static published::Table),
    Fixed(Bytes),
    Uniform(Bytes, Bytes),
    Cdf(At<String>),
    Points(Vec<CdfPoint>),
}

impl SizesSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        let settings = Self {
            form: decode_form(section)?,
            truncate: section.get("truncate"),
            clamp: section.get("clamp"),
            scale_to_mean: section.get("scale_to_mean"),
        };
        if let (Some(_), Some(clamp)) = (&settings.truncate, &settings.clamp) {
            let label = "expected `truncate` (leave out larger flows) or `clamp` (cap them), not both";
            section.problem(clamp.span, "the sizes are limited twice", label);
        }
        Some(settings)
    }

    /// The file of the CDF.
    pub(crate) fn file(&self) -> Option<&str> {
        match &self.form.value {
            Form::Cdf(path) => Some(&path.value),
            _ => None,
        }
    }

    /// The distribution.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Sizes> {
        let fail =
            |span: Span, error: SizesError| resolver.problems.add(Problem::at(span, error.to_string()));
        let mut sizes = match &self.form.value {
            Form::Published(table) => table.sizes(),
            Form::Fixed(size) => Sizes::fixed(*size).map_err(|error| fail(self.form.span, error)).ok()?,
            Form::Uniform(from, to) => {
                Sizes::uniform(*from, *to).map_err(|error| fail(self.form.span, error)).ok()?
            }
            Form::Points(knots) => {
                Sizes::new(knots.clone()).map_err(|error| fail(self.form.span, error)).ok()?
            }
            Form::Cdf(path) => read_cdf(&resolver.file(path)?)
                .map_err(|error| {
                    let problem =
                        Problem::at(path.span, format!("`{}` is not a valid CDF of sizes", path.value));
                    resolver.problems.add(problem.label(error.to_string()));
                })
                .ok()?,
        };
        type Change = fn(&Sizes, Bytes) -> Result<Sizes, SizesError>;
        let changes: [(_, Change); 3] = [
            (self.truncate, Sizes::truncate),
            (self.clamp, Sizes::clamp),
            (self.scale_to_mean, Sizes::scale_to_mean),
        ];
        for (limit, change) in changes {
            if let Some(limit) = limit {
                sizes = change(&sizes, limit.value).map_err(|error| fail(limit.span, error)).ok()?;
            }
        }
        Some(sizes)
    }
}

fn decode_form(section: &Section<'_>) -> Option<At<Form>> {
    let path = section.path_of("sizes");
    let Some(node) = section.node("sizes") else {
        let label = "expected `sizes`, `flow_list` or `trace`";
        section.problem(section.span, format!("{} has no flow sizes", section.title()), label);
        return None;
    };
    let form = match &node.value {
        Value::Text(name) => match published::named(name) {
            Some(table) => Some(Form::Published(table)),
            None => {
                let problem = Problem::at(node.span, format!("unknown size distribution `{name}`"));
                let problem = problem.label(match name.parse::<Bytes>() {
                    Ok(_) => format!("for flows of one size write {{ fixed = \"{name}\" }}"),
                    Err(_) => suggest(name, names()),
                });
                section.problems.add(problem.help(
                    "or { fixed = \"10 MB\" }, { uniform = [\"1 kB\", \"1 MB\"] }, { cdf = \"file\" }",
                ));
                None
            }
        },
        Value::Table(table) => {
            let inner = Section { path: path.clone(), table, span: node.span, problems: section.problems };
            inner.only(&[FORMS]);
            let known = |name: &str| FORMS.iter().any(|form| form.name == name);
            match table.0.as_slice() {
                [entry] if known(&entry.key) => match entry.key.as_str() {
                    "fixed" => inner.get("fixed").map(|size| Form::Fixed(size.value)),
                    "uniform" => {
                        pair::<Bytes>(&inner, "uniform").map(|(from, to)| Form::Uniform(from.value, to.value))
                    }
                    "points" => points(&inner).map(Form::Points),
                    _ => inner.get("cdf").map(Form::Cdf),
                },
                entries => {
                    if entries.iter().all(|entry| known(&entry.key)) {
                        let message = format!("`{path}` has {} forms", entries.len());
                        section.problem(
                            node.span,
                            message,
                            "expected one of `fixed`, `uniform`, `cdf`, `points`",
                        );
                    }
                    None
                }
            }
        }
        _ => {
            let message = format!("`{path}` is {}, not a size distribution", node.describe());
            let label = "expected a name such as \"web-search\", or a table such as { fixed = \"10 MB\" }";
            section.problem(node.span, message, label);
            None
        }
    };
    form.map(|value| At { value, span: node.span })
}

/// The points of a CDF.
fn points(section: &Section<'_>) -> Option<Vec<CdfPoint>> {
    let node = section.node("points")?;
    let path = section.path_of("points");
    let wrong = |node: &Node, what: &str| {
        let message = format!("{what} is malformed");
        section.problem(node.span, message, "expected points such as [\"10 kB\", 0.15]");
    };
    let Value::List(points) = &node.value else {
        wrong(node, &format!("`{path}`"));
        return None;
    };
    let knots = points.iter().map(|point| match &point.value {
        Value::List(pair) if pair.len() == 2 => {
            let bytes = section.read::<Bytes>(&pair[0], &path)?.value.0 as f64;
            Some(CdfPoint { bytes, probability: section.read::<f64>(&pair[1], &path)?.value })
        }
        _ => {
            wrong(point, &format!("a point of `{path}`"));
            None
        }
    });
    knots.collect()
}

/// Both values of a list of two.
pub(crate) fn pair<T: Read + Copy>(section: &Section<'_>, key: &str) -> Option<(At<T>, At<T>)> {
    let values = section.list::<T>(key)?;
    match values.value.as_slice() {
        [from, to] => Some((*from, *to)),
        other => {
            let many = if other.len() == 1 { "" } else { "s" };
            let message = format!("`{}` has {} value{many}, not two", section.path_of(key), other.len());
            section.problem(values.span, message, "expected two values, the start and the end");
            None
        }
    }
}
