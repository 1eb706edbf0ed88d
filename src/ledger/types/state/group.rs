//! The slot of a resource group, with its members at one address by type
//! (docs/reference/framework.md#f9).

use crate::{AccountAddress, StructTag};
use bytes::Bytes;
use std::collections::BTreeMap;

/// The members of a resource group at one address, each in BCS.
///
/// The map in BCS is the value of the group's slot.
pub type GroupMembers = BTreeMap<StructTag, Bytes>;

/// Decodes the members of a resource group from the value of its slot.
///
/// # Errors
///
/// Returns the error of the BCS decoder if `slot` is not a resource group.
pub fn group_members(slot: &[u8]) -> Result<GroupMembers, bcs::Error> {
    bcs::from_bytes(slot)
}

/// The slot of a resource group, as slices of the encoded members.
///
/// A transfer changes two groups, and copies neither their tags nor the members that stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceGroup {
    /// Tag and value of each member, in BCS, in ascending order of the tags' bytes.
    members: Vec<(Bytes, Bytes)>,
}

/// A slot that is not a resource group, or a member with type parameters, which the framework does
/// not declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the slot is not a resource group")]
pub struct ResourceGroupError;

impl ResourceGroup {
    /// Decodes the value of a slot.
    ///
    /// # Errors
    ///
    /// Returns [`ResourceGroupError`] if `slot` is not a resource group, or if a member has type
    /// parameters.
    pub fn decode(slot: &Bytes) -> Result<Self, ResourceGroupError> {
        let mut reader = Reader { slot, position: 0 };
        let count = reader.length()?;
        // A member has an address at least, so a false count does not allocate more than the slot.
        let possible = slot.len() / AccountAddress::LENGTH;
        let mut members: Vec<(Bytes, Bytes)> = Vec::with_capacity(count.min(possible) + 1);
        for _ in 0..count {
            let tag = reader.tag()?;
            let length = reader.length()?;
            let value = reader.bytes(length)?;
            if members.last().is_some_and(|(last, _)| *last >= tag) {
                return Err(ResourceGroupError);
            }
            members.push((tag, value));
        }
        if reader.position == slot.len() {
            Ok(Self { members })
        } else {
            Err(ResourceGroupError)
        }
    }

    /// Returns the member whose tag has the BCS form `tag`.
    pub fn get(&self, tag: &[u8]) -> Option<&Bytes> {
        let index = self.position(tag).ok()?;
        Some(&self.members[index].1)
    }

    /// Inserts or replaces the member whose tag has the BCS form `tag`.
    pub fn insert(&mut self, tag: Bytes, value: Bytes) {
        match self.position(&tag) {
            Ok(index) => self.members[index].1 = value,
            Err(index) => self.members.insert(index, (tag, value)),
        }
    }

    /// Removes the member whose tag has the BCS form `tag`, if it exists.
    pub fn remove(&mut self, tag: &[u8]) {
        if let Ok(index) = self.position(tag) {
            self.members.remove(index);
        }
    }

    /// Returns `true` if the group has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the length of the slot's value, in bytes.
    pub fn encoded_length(&self) -> usize {
        let length =
            |(tag, value): &(Bytes, Bytes)| tag.len() + length_bytes(value.len()) + value.len();
        length_bytes(self.members.len()) + self.members.iter().map(length).sum::<usize>()
    }

    /// Returns the value of the slot.
    pub fn encode(&self) -> Bytes {
        let mut slot = Vec::with_capacity(self.encoded_length());
        put_length(&mut slot, self.members.len());
        for (tag, value) in &self.members {
            slot.extend_from_slice(tag);
            put_length(&mut slot, value.len());
            slot.extend_from_slice(value);
        }
        slot.into()
    }

    fn position(&self, tag: &[u8]) -> Result<usize, usize> {
        self.members
            .binary_search_by(|(member, _)| member[..].cmp(tag))
    }
}

/// Returns the number of bytes of a length in ULEB128.
fn length_bytes(length: usize) -> usize {
    let bits = usize::BITS - (length | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Appends a length in ULEB128.
fn put_length(slot: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        slot.push(length as u8 | 0x80);
        length >>= 7;
    }
    slot.push(length as u8);
}

/// The part of a slot that is not decoded yet.
struct Reader<'a> {
    slot: &'a Bytes,
    position: usize,
}

impl Reader<'_> {
    /// Reads a length in ULEB128, in its shortest form.
    fn length(&mut self) -> Result<usize, ResourceGroupError> {
        let mut length = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = *self.slot.get(self.position).ok_or(ResourceGroupError)?;
            self.position += 1;
            let digit = u32::from(byte & 0x7f);
            length |= digit << shift;
            if byte < 0x80 {
                let is_shortest = shift == 0 || digit != 0;
                let fits = shift < 28 || digit < 8;
                return if is_shortest && fits {
                    Ok(length as usize)
                } else {
                    Err(ResourceGroupError)
                };
            }
        }
        Err(ResourceGroupError)
    }

    /// Reads `length` bytes.
    fn bytes(&mut self, length: usize) -> Result<Bytes, ResourceGroupError> {
        let end = self.position.checked_add(length);
        let end = end.filter(|end| *end <= self.slot.len());
        let end = end.ok_or(ResourceGroupError)?;
        let bytes = self.slot.slice(self.position..end);
        self.position = end;
        Ok(bytes)
    }

    /// Skips `length` bytes.
    fn skip(&mut self, length: usize) -> Result<(), ResourceGroupError> {
        self.bytes(length).map(|_| ())
    }

    /// Reads a struct tag without type arguments.
    fn tag(&mut self) -> Result<Bytes, ResourceGroupError> {
        let begin = self.position;
        self.skip(AccountAddress::LENGTH)?;
        for _name in ["module", "struct"] {
            let length = self.length()?;
            self.skip(length)?;
        }
        if self.length()? != 0 {
            return Err(ResourceGroupError);
        }
        Ok(self.slot.slice(begin..self.position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tag(module: &str, name: &str) -> StructTag {
        StructTag::framework(module, name, vec![])
    }

    fn any_members() -> impl Strategy<Value = GroupMembers> {
        let name = || "[A-Za-z][a-z]{0,12}";
        let value = prop::collection::vec(any::<u8>(), 0..300);
        prop::collection::btree_map((name(), name()), value, 0..6).prop_map(|members| {
            members
                .into_iter()
                .map(|((module, name), value)| (tag(&module, &name), value.into()))
                .collect()
        })
    }

    fn encoded(value: &impl serde::Serialize) -> Bytes {
        bcs::to_bytes(value).unwrap().into()
    }

    proptest! {
        #[test]
        fn slices_equal_the_decoded_map(members in any_members()) {
            let slot = encoded(&members);
            let group = ResourceGroup::decode(&slot).unwrap();
            prop_assert_eq!(group.encoded_length(), slot.len());
            prop_assert_eq!(group.encode(), slot);
            for (tag, value) in &members {
                prop_assert_eq!(group.get(&encoded(tag)), Some(value));
            }
        }

        #[test]
        fn changes_equal_those_of_the_map(
            members in any_members(),
            changes in any_members(),
            removed in any::<prop::sample::Index>(),
        ) {
            let mut group = ResourceGroup::decode(&encoded(&members)).unwrap();
            let mut expected = members;
            for (tag, value) in changes {
                group.insert(encoded(&tag), value.clone());
                expected.insert(tag, value);
            }
            if !expected.is_empty() {
                let tag = expected.keys().nth(removed.index(expected.len())).unwrap().clone();
                group.remove(&encoded(&tag));
                expected.remove(&tag);
            }
            prop_assert_eq!(group.is_empty(), expected.is_empty());
            prop_assert_eq!(group.encode(), encoded(&expected));
        }

        #[test]
        fn accepts_the_same_slots_as_the_decoder(
            members in any_members(),
            position in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut slot = encoded(&members).to_vec();
            let index = position.index(slot.len());
            slot[index] = byte;
            let slot = Bytes::from(slot);
            let decoded = group_members(&slot);
            if let Ok(group) = ResourceGroup::decode(&slot) {
                prop_assert_eq!(group.encode(), slot);
            } else if let Ok(members) = decoded {
                prop_assert!(members.keys().any(|tag| !tag.type_args.is_empty()));
            }
        }
    }

    #[test]
    fn rejects_slots_that_are_cut_off() {
        let members = GroupMembers::from([(tag("object", "ObjectCore"), Bytes::from_static(b"x"))]);
        let slot = encoded(&members);
        for length in 0..slot.len() {
            assert_eq!(
                ResourceGroup::decode(&slot.slice(..length)),
                Err(ResourceGroupError),
                "{length}"
            );
        }
        let huge = Bytes::from_static(&[0xff, 0xff, 0xff, 0xff, 0x07]);
        assert_eq!(ResourceGroup::decode(&huge), Err(ResourceGroupError));
    }
}
