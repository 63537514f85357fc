//! The JSON Schema of a scenario file, for editors. It is generated from the key lists that the reader uses,
//! the registry of schemes and the transport parameters, so it is always up to date. Only the reader finds
//! errors that a schema cannot express (a host that does not exist, an odd k).

use schemars::Schema;
use serde_json::{Map, Value as Json, json};
use weft_switching::{Descriptor, Schemes};
use weft_transport::Protocol;
use weft_units::{ParamInfo, ParamKind, Range};

use crate::key::{Key, Kind};
use crate::sections::cable::CABLE_KEYS;
use crate::sections::links::LINK_KEYS;
use crate::sections::shapes::SHAPES;
use crate::sections::{congestion, event, fabric, interfaces, measure, run, scheme, traffic, transport};
use crate::settings::TOP_KEYS;

const DURATION: &str = r"^\s*[0-9][0-9_]*(\.[0-9]*)?\s*(ps|ns|us|µs|ms|s|min|h)\s*$";
const RATE: &str = r"^\s*[0-9][0-9_]*(\.[0-9]*)?\s*([kKMGT]bps|bps|([kMG])?bit/s)\s*$";
const BYTES: &str = r"^\s*[0-9][0-9_]*(\.[0-9]*)?\s*(B|bytes?|[kKMGT]B|[KMG]iB)\s*$";
const LIMIT: &str =
    r"^\s*[0-9][0-9_]*(\.[0-9]*)?\s*(packets?|B|bytes?|[kKMGT]B|[KMG]iB)\s*$|^\s*unlimited\s*$";

/// The JSON Schema of a scenario file that may name these schemes.
pub fn schema(schemes: &Schemes) -> Schema {
    let group = object(&traffic::key_lists().concat(), &[]);
    let mut top = properties(TOP_KEYS);
    top.extend([
        ("fabric".to_owned(), fabric_schema()),
        (
            "traffic".to_owned(),
            described(json!({ "anyOf": [group, { "type": "array", "items": group }] }), "groups of flows"),
        ),
        ("scheme".to_owned(), scheme_schema(schemes)),
        ("transport".to_owned(), transport_schema(schemes)),
        ("run".to_owned(), described(object(run::KEYS, &[]), "duration and seeds")),
        ("measure".to_owned(), described(object(measure::KEYS, &[]), "measurement settings")),
        (
            "event".to_owned(),
            described(json!({ "type": "array", "items": object(event::KEYS, &["at"]) }), "failures, recoveries and changes of links and nodes"),
        ),
        ("variant".to_owned(), variant_schema()),
        (
            "sweep".to_owned(),
            json!({
                "description": "lists of values for any keys, such as \"traffic.load\" = [0.2, 0.4]; every combination is run",
                "type": "object",
                "additionalProperties": { "type": ["array", "object"] },
            }),
        ),
    ]);
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Weft scenario",
        "type": "object",
        "properties": top,
        "additionalProperties": false,
    });
    Schema::try_from(schema).unwrap_or_default()
}

/// Sections of a variant have any keys of the scenario's sections: the reader checks them with the rest.
fn variant_schema() -> Json {
    let sections = ["fabric", "scheme", "transport", "run", "measure"];
    let mut properties: Map<String, Json> =
        sections.iter().map(|name| ((*name).to_owned(), json!({ "type": "object" }))).collect();
    for name in ["traffic", "event"] {
        properties.insert(name.to_owned(), json!({ "type": ["object", "array"] }));
    }
    let variant = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let doc = "named sets of keys that are compared, such as [variant.uec] with transport.protocol = \"uec\"";
    described(json!({ "type": "object", "additionalProperties": variant }), doc)
}

fn fabric_schema() -> Json {
    let shapes = SHAPES.iter().map(|shape| {
        let mut of_shape = object(&fabric::keys_of(shape), &["kind"]);
        of_shape["properties"]["kind"] = json!({ "const": shape.name });
        described(of_shape, shape.doc)
    });
    let file = described(object(&fabric::keys_of_file(), &["file"]), "a fabric from a file");
    let any: Vec<Json> = shapes.chain([file]).collect();
    described(json!({ "type": "object", "oneOf": any }), "hosts, switches and links")
}

fn scheme_schema(schemes: &Schemes) -> Json {
    let one = |scheme: &Descriptor| {
        let mut properties = Map::new();
        properties.insert("name".to_owned(), json!({ "const": scheme.name }));
        properties.extend(parameters(scheme.params));
        json!({ "description": scheme.summary, "properties": properties, "additionalProperties": false })
    };
    let schemes: Vec<Json> = schemes.iter().map(one).collect();
    described(json!({ "type": "object", "anyOf": schemes }), scheme::NAME.doc)
}

/// Parameters of a scheme or congestion controller.
fn parameters(all: &[ParamInfo]) -> impl Iterator<Item = (String, Json)> {
    all.iter().map(|param| parameter(param, &param.default.to_string()))
}

/// A parameter of a scheme or protocol.
fn parameter(param: &ParamInfo, default: &str) -> (String, Json) {
    let kind = match (param.kind, param.range) {
        (ParamKind::Choice(words), _) => json!({ "enum": words }),
        (ParamKind::Duration, _) => of_kind(Kind::Duration),
        (ParamKind::Bytes, _) => of_kind(Kind::Bytes),
        (ParamKind::Rate, _) => of_kind(Kind::Rate),
        (ParamKind::Count, Range::Whole(least, _)) => of_kind(Kind::Count(least)),
        (ParamKind::Count | ParamKind::Number, _) => of_kind(Kind::Number),
        (ParamKind::Flag, _) => of_kind(Kind::Flag),
    };
    (param.name.to_owned(), described(kind, &with_default(param.doc, default)))
}

/// Each protocol, with the defaults of its profile; TCP also with the congestion controllers of modules.
fn transport_schema(schemes: &Schemes) -> Json {
    let one = |protocol: &Protocol| {
        let is_tcp = protocol.tcp().is_some();
        let own: &[Key] = if is_tcp { &[transport::PROFILE, interfaces::RULE] } else { &[interfaces::RULE] };
        let name = described(json!({ "const": protocol.name() }), transport::PROTOCOL.doc);
        let mut properties = properties(own);
        properties.insert(transport::PROTOCOL.name.to_owned(), name);
        let profile = if is_tcp { format!(" in `{}`", transport::PROFILE.default()) } else { String::new() };
        let all = protocol.parameters().into_iter();
        properties.extend(all.map(|(param, value)| parameter(param, &format!("{value}{profile}"))));
        let controllers: &[_] = if is_tcp { &schemes.controllers } else { &[] };
        properties.extend(controllers.iter().flat_map(|info| parameters(info.params)));
        let names = properties.get_mut(congestion::NAME).and_then(|own| own["enum"].as_array_mut());
        if let Some(names) = names {
            names.extend(controllers.iter().map(|info| json!(info.name)));
        }
        let mut schema = json!({ "properties": properties, "additionalProperties": false });
        if !is_tcp {
            schema["required"] = json!([transport::PROTOCOL.name]);
        }
        schema
    };
    let any: Vec<Json> = Protocol::all().iter().map(one).collect();
    described(json!({ "type": "object", "anyOf": any }), "protocol of the hosts, and overridden parameters")
}

fn object(keys: &[Key], required: &[&str]) -> Json {
    let mut object =
        json!({ "type": "object", "properties": properties(keys), "additionalProperties": false });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn properties(keys: &[Key]) -> Map<String, Json> {
    let one = |key: &Key| {
        let kind = if key.name == "link" { link_schema() } else { of_kind(key.kind) };
        (key.name.to_owned(), described(kind, &with_default(key.doc, &key.default())))
    };
    keys.iter().map(one).collect()
}

fn link_schema() -> Json {
    let keys = [CABLE_KEYS, LINK_KEYS].concat();
    json!({ "type": "array", "items": object(&keys, &["between"]) })
}

fn of_kind(kind: Kind) -> Json {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Count(least) => json!({ "type": "integer", "minimum": least }),
        Kind::UpTo(most) => json!({ "type": "integer", "minimum": 0, "maximum": most }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Duration => json!({ "type": "string", "pattern": DURATION }),
        Kind::Rate => json!({ "type": "string", "pattern": RATE }),
        Kind::Bytes => json!({ "type": "string", "pattern": BYTES }),
        Kind::Limit => json!({ "type": "string", "pattern": LIMIT }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Choice(choices) => json!({ "enum": choices() }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Counts => json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
        Kind::Table(keys) => object(keys, &[]),
        Kind::Tables(keys) => json!({ "type": "array", "items": object(keys, &[]) }),
        Kind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(|kind| of_kind(*kind)).collect::<Vec<_>>() })
        }
        Kind::Pair(kind) => json!({ "type": "array", "items": of_kind(*kind), "minItems": 2, "maxItems": 2 }),
        Kind::List(kind) => json!({ "type": "array", "items": of_kind(*kind) }),
    }
}

fn with_default(doc: &str, default: &str) -> String {
    if default.is_empty() { doc.to_owned() } else { format!("{doc} (default: {default})") }
}

fn described(mut schema: Json, description: &str) -> Json {
    schema["description"] = description.into();
    schema
}
