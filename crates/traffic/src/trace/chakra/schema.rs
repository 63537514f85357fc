//! The messages of Chakra's schema (`et_def.proto` of `mlcommons/chakra`), as far as Weft reads them; decoding skips
//! other fields.

use prost::{Message, Oneof};

/// The head of a file.
#[derive(Clone, PartialEq, Message)]
pub struct GlobalMetadata {
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(message, repeated, tag = "2")]
    pub attr: Vec<Attribute>,
}

impl GlobalMetadata {
    /// Whether the file is converted from a trace of PyTorch, whose head has these attributes.
    pub fn is_of_pytorch(&self) -> bool {
        ["schema", "pid"].iter().all(|name| self.attr.iter().any(|attribute| attribute.name == *name))
    }
}

/// An operation of a rank.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, optional, tag = "8")]
    pub inputs: Option<Inputs>,
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<Attribute>,
}

/// The arguments of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct Inputs {
    #[prost(string, tag = "1")]
    pub values: String,
}

/// An attribute of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 28, 29")]
    pub value: Option<Value>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Oneof)]
pub enum Value {
    #[prost(double, tag = "3")]
    Double(f64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    Bools(Bools),
    #[prost(string, tag = "29")]
    Text(String),
}

/// Several truth values.
#[derive(Clone, PartialEq, Message)]
pub struct Bools {
    #[prost(bool, repeated, tag = "1")]
    pub values: Vec<bool>,
}

impl Value {
    /// The whole number, of whatever type; a text may contain one.
    fn whole(&self) -> Option<i128> {
        match self {
            Self::Int32(number) | Self::Sint32(number) | Self::Sfixed32(number) => Some((*number).into()),
            Self::Int64(number) | Self::Sint64(number) | Self::Sfixed64(number) => Some((*number).into()),
            Self::Uint32(number) | Self::Fixed32(number) => Some((*number).into()),
            Self::Uint64(number) | Self::Fixed64(number) => Some((*number).into()),
            Self::Text(text) => text.parse().ok(),
            Self::Double(_) | Self::Float(_) | Self::Bool(_) | Self::Bools(_) => None,
        }
    }
}

impl Node {
    /// The value of an attribute.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.attr.iter().find(|attribute| attribute.name == name)?.value.as_ref()
    }

    /// The whole number of an attribute, at least 0.
    ///
    /// # Errors
    /// It is no such number.
    pub fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = value.whole().ok_or_else(|| format!("`{name}` is not a whole number"))?;
        let expected = format!("expected 0 to {}", u64::MAX);
        u64::try_from(number).map(Some).map_err(|_| format!("`{name}` is {number}; {expected}"))
    }

    /// The whole number of an attribute that it must have.
    ///
    /// # Errors
    /// It has none.
    pub fn need(&self, name: &str) -> Result<u64, String> {
        self.number(name)?.ok_or_else(|| format!("it has no `{name}`"))
    }

    /// The rank that an attribute names.
    ///
    /// # Errors
    /// It names none.
    pub fn rank(&self, name: &str, ranks: u32) -> Result<u32, String> {
        let rank = self.need(name)?;
        let known = u32::try_from(rank).ok().filter(|rank| *rank < ranks);
        known.ok_or_else(|| format!("`{name}` is {rank}, and the last rank is {}", ranks.saturating_sub(1)))
    }
}
