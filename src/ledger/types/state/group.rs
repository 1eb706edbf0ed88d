//! The slot of a resource group, with its members at one address by type
//! (docs/reference/framework.md#f9).

use crate::{AccountAddress, StructTag};
use bytes::Bytes;
use std::{collections::BTreeMap, ops::Range};

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

/// The members of a resource group, with their changes.
///
/// A transfer changes two groups and reads several members of each. The members are located once,
/// and copied only when the changed slot is encoded.
#[derive(Clone, Debug, Default)]
pub struct ResourceGroup {
    /// Value of the slot; empty without a slot.
    slot: Bytes,
    /// Members in ascending order of the tags' bytes. Types are declared, so there are few.
    members: Vec<Member>,
}

/// A member of a resource group.
#[derive(Clone, Debug)]
struct Member {
    /// Type of the member, in BCS.
    tag: Part,
    /// Value in BCS.
    value: Part,
}

/// A part of a resource group: a range of the slot, or bytes that are not in the slot.
#[derive(Clone, Debug)]
enum Part {
    Stored(Range<usize>),
    Written(Bytes),
}

impl Part {
    /// Returns the bytes of a part of `slot`.
    fn of<'a>(&'a self, slot: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Stored(range) => &slot[range.clone()],
            Self::Written(bytes) => bytes,
        }
    }
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
        let mut reader = Reader { rest: slot };
        let count = reader.length()?;
        // A slot that is cut off has fewer members than it says.
        let mut members = Vec::with_capacity(count.min(slot.len() / AccountAddress::LENGTH));
        let mut last_tag: &[u8] = &[];
        for _ in 0..count {
            let tag_begin = slot.len() - reader.rest.len();
            let (tag, value) = reader.member()?;
            if last_tag >= tag {
                return Err(ResourceGroupError);
            }
            last_tag = tag;
            let value_end = slot.len() - reader.rest.len();
            members.push(Member {
                tag: Part::Stored(tag_begin..tag_begin + tag.len()),
                value: Part::Stored(value_end - value.len()..value_end),
            });
        }
        if !reader.rest.is_empty() {
            return Err(ResourceGroupError);
        }
        Ok(Self {
            slot: slot.clone(),
            members,
        })
    }

    /// Returns the member whose tag has the BCS form `tag`.
    pub fn get(&self, tag: &[u8]) -> Option<&[u8]> {
        let index = self.position(tag)?;
        Some(self.members[index].value.of(&self.slot))
    }

    /// Inserts or replaces the member whose tag has the BCS form `tag`.
    pub fn insert(&mut self, tag: &[u8], value: Bytes) {
        let value = Part::Written(value);
        match self.position(tag) {
            Some(index) => self.members[index].value = value,
            None => {
                let precedes = |member: &Member| member.tag.of(&self.slot) < tag;
                let index = self.members.partition_point(precedes);
                let tag = Part::Written(Bytes::copy_from_slice(tag));
                self.members.insert(index, Member { tag, value });
            }
        }
    }

    /// Removes the member whose tag has the BCS form `tag`, if it exists.
    pub fn remove(&mut self, tag: &[u8]) {
        if let Some(index) = self.position(tag) {
            self.members.remove(index);
        }
    }

    /// Returns `true` if the group has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the length of the slot's value, in bytes.
    pub fn encoded_length(&self) -> usize {
        let members = self.members();
        length_bytes(self.members.len())
            + members
                .map(|(tag, value)| member_length(tag, value))
                .sum::<usize>()
    }

    /// Returns the value of the slot.
    pub fn encode(&self) -> Bytes {
        let mut slot = Vec::with_capacity(self.encoded_length());
        put_length(&mut slot, self.members.len());
        for (tag, value) in self.members() {
            slot.extend_from_slice(tag);
            put_length(&mut slot, value.len());
            slot.extend_from_slice(value);
        }
        slot.into()
    }

    /// Returns the index of the member with a tag. Most tags differ in their lengths, which are
    /// compared first.
    fn position(&self, tag: &[u8]) -> Option<usize> {
        self.members().position(|(member, _)| member == tag)
    }

    /// Returns tag and value of each member.
    fn members(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let members = self.members.iter();
        members.map(|member| (member.tag.of(&self.slot), member.value.of(&self.slot)))
    }
}

/// Returns the length of an encoded member, in bytes.
fn member_length(tag: &[u8], value: &[u8]) -> usize {
    tag.len() + length_bytes(value.len()) + value.len()
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
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads a length in ULEB128, in its shortest form.
    fn length(&mut self) -> Result<usize, ResourceGroupError> {
        // Most lengths have one byte.
        match self.rest {
            [byte @ ..0x80, rest @ ..] => {
                self.rest = rest;
                Ok(usize::from(*byte))
            }
            _ => self.long_length(),
        }
    }

    /// Reads a length like [`Self::length`], of any number of bytes.
    #[cold]
    fn long_length(&mut self) -> Result<usize, ResourceGroupError> {
        let mut length = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let (&byte, rest) = self.rest.split_first().ok_or(ResourceGroupError)?;
            self.rest = rest;
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
    fn bytes(&mut self, length: usize) -> Result<&'a [u8], ResourceGroupError> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(ResourceGroupError)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Reads tag and value of a member. The tag must have no type arguments.
    fn member(&mut self) -> Result<(&'a [u8], &'a [u8]), ResourceGroupError> {
        let begin = self.rest;
        self.bytes(AccountAddress::LENGTH)?;
        for _name in ["module", "struct"] {
            let length = self.length()?;
            self.bytes(length)?;
        }
        if self.length()? != 0 {
            return Err(ResourceGroupError);
        }
        let tag = &begin[..begin.len() - self.rest.len()];
        let length = self.length()?;
        Ok((tag, self.bytes(length)?))
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
                prop_assert_eq!(group.get(&encoded(tag)), Some(&value[..]));
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
                group.insert(&encoded(&tag), value.clone());
                prop_assert_eq!(group.get(&encoded(&tag)), Some(&value[..]));
                expected.insert(tag, value);
            }
            if !expected.is_empty() {
                let tag = expected.keys().nth(removed.index(expected.len())).unwrap().clone();
                group.remove(&encoded(&tag));
                prop_assert_eq!(group.get(&encoded(&tag)), None);
                expected.remove(&tag);
            }
            prop_assert_eq!(group.is_empty(), expected.is_empty());
            prop_assert_eq!(group.encoded_length(), encoded(&expected).len());
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
            let decoded = ResourceGroup::decode(&slot.slice(..length));
            assert!(decoded.is_err(), "{length}");
        }
        let huge = Bytes::from_static(&[0xff, 0xff, 0xff, 0xff, 0x07]);
        assert!(ResourceGroup::decode(&huge).is_err());
    }
}
