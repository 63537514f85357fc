//! [`words!`](crate::words): types whose values are words.

#[doc(hidden)]
pub use serde;

/// Declares the type of a value that is one of several words, read and written as this word. A variant behind `..` holds a
/// value with a word of its own in the field named; it is written as this word, and never read.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $($(#[$word_meta:meta])* $Word:ident = $word:literal,)+
            $(..$Other:ident($Of:ty) = $field:ident,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $Name {
            $($(#[$word_meta])* $Word,)+
            $(/// Another, with a word of its own.
            $Other($Of),)?
        }

        impl $Name {
            /// All words that are read.
            $vis const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word.
            $vis const fn word(self) -> &'static str {
                match self {
                    $(Self::$Word => $word,)+
                    $(Self::$Other(other) => other.$field,)?
                }
            }
        }

        impl $crate::Param for $Name {
            const KIND: $crate::ParamKind = $crate::ParamKind::Choice(Self::WORDS);

            fn of(value: &$crate::ParamValue) -> Option<Self> {
                match value {
                    $crate::ParamValue::Text(text) => text.parse().ok(),
                    _ => None,
                }
            }

            fn value(&self) -> $crate::ParamValue {
                $crate::ParamValue::Text(self.word().to_owned())
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $Name {
            type Err = String;

            /// The error is the text itself.
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$Word),)+
                    other => Err(other.to_owned()),
                }
            }
        }

        impl $crate::words::serde::Serialize for $Name {
            fn serialize<S: $crate::words::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> $crate::words::serde::Deserialize<'de> for $Name {
            fn deserialize<D: $crate::words::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::words::serde::de::Error;
                let text = <String as $crate::words::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(|text: String| D::Error::unknown_variant(&text, Self::WORDS))
            }
        }
    };
}
