//! [`RoleMessage`]: which controllers may change a switch (section 7.3.9).

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The role of a controller at a switch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Role {
    /// Queries the role without changing it.
    NoChange = 0,
    /// Full access, shared with others.
    Equal = 1,
    /// The only controller that may change the switch ("master").
    Primary = 2,
    /// Read-only access ("slave").
    Secondary = 3,
}

/// A requested or current role.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RoleMessage {
    /// The role.
    pub role: Role,
    /// Increases with each election of a primary.
    pub generation: u64,
}

impl RoleMessage {
    pub(crate) const fn encoded_len(&self) -> usize {
        16
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let role = match reader.u32()? {
            0 => Role::NoChange,
            1 => Role::Equal,
            2 => Role::Primary,
            3 => Role::Secondary,
            other => {
                return Err(Error::Unsupported {
                    field: "role",
                    value: other.try_into().unwrap_or(u16::MAX),
                });
            }
        };
        reader.skip(4)?;
        Ok(Self { role, generation: reader.u64()? })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&(self.role as u32).to_be_bytes());
        writer.skip(4);
        writer.put(&self.generation.to_be_bytes());
    }
}
