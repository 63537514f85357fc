//! Congestion controllers of modules in `[transport]`.

use serde_json::{Value, json};
use weft_scenario::{Scenario, schema};
use weft_switching::Schemes;
use weft_transport::{Code, CongestionControl, ControllerInfo};
use weft_units::{Duration, ParamInfo, ParamKind, ParamValue, Range};

const PARAMS: &[ParamInfo] = &[
    ParamInfo {
        name: "increase",
        kind: ParamKind::Count,
        default: ParamValue::Count(1),
        range: Range::Whole(1, 100),
        unit: "",
        doc: "segments",
        elsewhere: "",
    },
    ParamInfo {
        name: "start",
        kind: ParamKind::Duration,
        default: ParamValue::Duration(Duration::from_ms(1)),
        range: Range::of(ParamKind::Duration),
        unit: "",
        doc: "when it starts",
        elsewhere: "",
    },
];

static MINE: ControllerInfo = ControllerInfo {
    name: "mine",
    summary: "a controller of a module",
    source: "nowhere",
    params: PARAMS,
    code: Code::Module("sha"),
};

fn schemes() -> Schemes {
    Schemes { controllers: vec![&MINE], ..Schemes::default() }
}

/// The scenario with this `[transport]`, or all messages.
fn parsed(transport: &str) -> Result<Scenario, String> {
    let text = format!(
        "[fabric]\nkind = \"fat-tree\"\nk = 4\nrate = \"1 Gbps\"\n[traffic]\nsizes = \"web-search\"\nload = 0.4\n\
         [scheme]\nname = \"ecmp\"\n[run]\nduration = \"100 ms\"\n[transport]\n{transport}\n"
    );
    Scenario::parse_among(&text, "mine.toml", &[], schemes()).map_err(|wrong| wrong.to_string())
}

#[test]
fn a_scenario_names_it_and_gives_its_parameters() {
    for transport in [
        "congestion_control = \"mine\"\nincrease = 7\nstart = \"2 ms\"",
        // The profile's controller needs ECN.
        "profile = \"dctcp\"\necn = \"off\"\ncongestion_control = \"mine\"\nincrease = 7\nstart = \"2 ms\"",
    ] {
        let scenario = parsed(transport).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(scenario.controllers(), [&MINE]);
        let plan = scenario.plan(&scenario.points()[0], &|_| Err(String::new())).unwrap();
        let fields = serde_json::to_value(&plan.transport.protocol).unwrap();
        assert_eq!(fields["congestion_control"], "mine");
        assert_eq!((&fields["increase"], &fields["start"]), (&7.into(), &"2 ms".into()));
        assert!(fields.get("custom").is_none());
    }
}

#[test]
fn another_controller_ignores_its_parameters() {
    let scenario = parsed("congestion_control = \"reno\"\nincrease = 7").unwrap();
    assert!(scenario.controllers().is_empty());
    let plan = scenario.plan(&scenario.points()[0], &|_| Err(String::new())).unwrap();
    assert!(serde_json::to_value(&plan.transport.protocol).unwrap().get("increase").is_none());
}

#[test]
fn wrong_names_and_values_are_reported() {
    let names: Vec<String> =
        CongestionControl::WORDS.iter().chain(&["mine"]).map(|name| format!("`{name}`")).collect();
    let expected = format!("expected one of {}", names.join(", "));
    for (transport, expected) in [
        ("congestion_control = \"mime\"", "did you mean `mine`?"),
        ("congestion_control = \"mime\"", expected.as_str()),
        ("congestion_control = \"bbrv3\"", "a controller of your own needs --plugin PATH"),
        ("congestion_control = 5", "`transport.congestion_control` is the number 5, not a string"),
        ("congestion_control = \"mine\"\nincrease = 0", "`transport.increase` is 0"),
        ("congestion_control = \"mine\"\nincrease = 101", "expected 1 to 100"),
        ("congestion_control = \"mine\"\nstart = 5", "the unit is missing"),
        ("congestion_control = \"mine\"\nincreas = 5", "did you mean `increase`?"),
        ("congestion_control = \"mine\"\nincrease = 0\nmss = 0", "`transport.mss` is 0"),
        ("protocol = \"udp\"\nincrease = 5", "unknown key `increase`"),
    ] {
        let wrong = parsed(transport).map(drop).unwrap_err();
        assert!(wrong.contains(expected), "{transport}: {wrong}");
    }
}

#[test]
fn the_schema_has_its_parameters() {
    let keys = |schemes: &Schemes| {
        let schema = serde_json::to_value(schema(schemes)).unwrap();
        let tcp = &schema["properties"]["transport"]["anyOf"][0]["properties"];
        (tcp["increase"].clone(), tcp["congestion_control"]["enum"].clone())
    };
    let own = CongestionControl::WORDS;
    let (increase, names) = keys(&schemes());
    assert_eq!(increase["description"], "segments (default: 1)");
    assert_eq!(names, json!([own, &["mine"]].concat()));
    assert_eq!(keys(&Schemes::default()), (Value::Null, json!(own)));
}
