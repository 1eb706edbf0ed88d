//! Parser of the text form of types, such as `0x1::coin::Coin<u8, vector<0x1::m::A>>`.
//!
//! The parser ignores white space between tokens (docs/reference/rest-contract.md#s2-1), bounds the
//! nesting depth, and reports the position of an unexpected token.

use super::tag::{Identifier, ModuleId, StructTag, TYPE_DEPTH_MAX, TypeTag};
use crate::AccountAddress;
use std::str::FromStr;

/// Maximum length of a type's text in bytes. It bounds the work for hostile request paths.
const TEXT_LENGTH_MAX: usize = 4096;

/// The error of parsing a text that is not a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeParseError {
    /// The text does not have an expected token.
    #[error("expected {expected} at byte {offset}")]
    Expected {
        /// Description of the expected token.
        expected: &'static str,
        /// Offset from the start of the text, in bytes.
        offset: usize,
    },
    /// The type is nested deeper than [`TYPE_DEPTH_MAX`].
    #[error("type arguments nest deeper than {TYPE_DEPTH_MAX}")]
    TooDeep,
    /// The text has more than 4096 bytes.
    #[error("a type has at most {TEXT_LENGTH_MAX} bytes")]
    TooLong,
}

/// A recursive-descent parser.
struct Parser<'a> {
    text: &'a str,
    /// Offset of the next byte to parse.
    offset: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, TypeParseError> {
        if text.len() > TEXT_LENGTH_MAX {
            return Err(TypeParseError::TooLong);
        }
        Ok(Self { text, offset: 0 })
    }

    /// Returns the error that `expected` is missing at the current offset.
    fn expected_error<T>(&self, expected: &'static str) -> Result<T, TypeParseError> {
        Err(TypeParseError::Expected {
            expected,
            offset: self.offset,
        })
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.offset..];
        self.offset += rest.len() - rest.trim_start().len();
    }

    /// Skips white space, consumes `token` if it follows, and returns whether it followed.
    fn consume(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.text[self.offset..].starts_with(token);
        if found {
            self.offset += token.len();
        }
        found
    }

    /// Skips white space and consumes `token`.
    ///
    /// # Errors
    ///
    /// Returns [`TypeParseError::Expected`] if another text follows.
    fn expect_token(&mut self, token: &'static str) -> Result<(), TypeParseError> {
        if self.consume(token) {
            Ok(())
        } else {
            self.expected_error(token)
        }
    }

    /// Consumes a possibly empty run of ASCII letters, digits, and underscores.
    fn word(&mut self) -> &'a str {
        self.skip_space();
        let rest = &self.text[self.offset..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        self.offset += end;
        &rest[..end]
    }

    fn identifier(&mut self) -> Result<Identifier, TypeParseError> {
        let start = self.offset;
        Identifier::new(self.word()).map_err(|_| TypeParseError::Expected {
            expected: "an identifier",
            offset: start,
        })
    }

    fn address(&mut self) -> Result<AccountAddress, TypeParseError> {
        let start = self.offset;
        let word = self.word();
        let error = TypeParseError::Expected {
            expected: "an address 0x...",
            offset: start,
        };
        if !word.starts_with("0x") {
            return Err(error);
        }
        word.parse().map_err(|_| error)
    }

    fn module(&mut self) -> Result<ModuleId, TypeParseError> {
        let address = self.address()?;
        self.expect_token("::")?;
        Ok(ModuleId {
            address,
            name: self.identifier()?,
        })
    }

    /// Parses a struct tag at nesting depth `depth`, from 1.
    fn struct_tag(&mut self, depth: usize) -> Result<StructTag, TypeParseError> {
        if depth > TYPE_DEPTH_MAX {
            return Err(TypeParseError::TooDeep);
        }
        let ModuleId {
            address,
            name: module,
        } = self.module()?;
        self.expect_token("::")?;
        let name = self.identifier()?;
        let mut type_args = Vec::new();
        if self.consume("<") {
            loop {
                type_args.push(self.type_tag(depth + 1)?);
                if self.consume(">") {
                    break;
                }
                if !self.consume(",") {
                    return self.expected_error(", or >");
                }
                // The list may end with a comma (docs/use/interface.md#type-arguments).
                if self.consume(">") {
                    break;
                }
            }
        }
        Ok(StructTag {
            address,
            module,
            name,
            type_args,
        })
    }

    /// Parses a type tag at nesting depth `depth`, from 1.
    fn type_tag(&mut self, depth: usize) -> Result<TypeTag, TypeParseError> {
        if depth > TYPE_DEPTH_MAX {
            return Err(TypeParseError::TooDeep);
        }
        self.skip_space();
        let start = self.offset;
        Ok(match self.word() {
            "bool" => TypeTag::Bool,
            "u8" => TypeTag::U8,
            "u16" => TypeTag::U16,
            "u32" => TypeTag::U32,
            "u64" => TypeTag::U64,
            "u128" => TypeTag::U128,
            "u256" => TypeTag::U256,
            "i8" => TypeTag::I8,
            "i16" => TypeTag::I16,
            "i32" => TypeTag::I32,
            "i64" => TypeTag::I64,
            "i128" => TypeTag::I128,
            "i256" => TypeTag::I256,
            "address" => TypeTag::Address,
            "signer" => TypeTag::Signer,
            "vector" => {
                self.expect_token("<")?;
                let item = self.type_tag(depth + 1)?;
                self.expect_token(">")?;
                TypeTag::Vector(Box::new(item))
            }
            word if word.starts_with("0x") => {
                self.offset = start;
                self.struct_tag(depth)?.into()
            }
            _ => {
                return Err(TypeParseError::Expected {
                    expected: "a type",
                    offset: start,
                });
            }
        })
    }

    /// Checks that only white space remains.
    fn expect_end(mut self) -> Result<(), TypeParseError> {
        self.skip_space();
        if self.offset == self.text.len() {
            Ok(())
        } else {
            self.expected_error("the end")
        }
    }
}

impl FromStr for TypeTag {
    type Err = TypeParseError;

    fn from_str(text: &str) -> Result<Self, TypeParseError> {
        let mut parser = Parser::new(text)?;
        let tag = parser.type_tag(1)?;
        parser.expect_end().map(|()| tag)
    }
}

impl FromStr for StructTag {
    type Err = TypeParseError;

    fn from_str(text: &str) -> Result<Self, TypeParseError> {
        let mut parser = Parser::new(text)?;
        let tag = parser.struct_tag(1)?;
        parser.expect_end().map(|()| tag)
    }
}

impl FromStr for ModuleId {
    type Err = TypeParseError;

    fn from_str(text: &str) -> Result<Self, TypeParseError> {
        let mut parser = Parser::new(text)?;
        let module = parser.module()?;
        parser.expect_end().map(|()| module)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ignores_white_space() {
        let a: StructTag = "0x1::coin::Coin<u8,vector<0x1::m::A>>".parse().unwrap();
        let b: StructTag = " 0x1 :: coin :: Coin < u8 , vector< 0x01::m::A > > "
            .parse()
            .unwrap();
        assert_eq!(a, b);
        assert_eq!(a.to_string(), "0x1::coin::Coin<u8, vector<0x1::m::A>>");
    }

    #[test]
    fn rejects_invalid_types_with_their_offset() {
        for text in [
            "",
            "u7",
            "0x1",
            "0x1::",
            "0x1::a::b<",
            "0x1::a::b<>",
            "0x1::a::b<,>",
            "0x1::a::b<u8,,>",
            "0x1::a::b<u8,",
            "vector<u8,>",
            "vector",
            "vector<u8",
            "u8 u8",
            "0x1::a::b,",
        ] {
            assert!(text.parse::<TypeTag>().is_err(), "{text}");
        }
        let error = "0x1::a::b<u7>".parse::<TypeTag>().unwrap_err();
        assert_eq!(error.to_string(), "expected a type at byte 10");
    }

    #[test]
    fn accepts_a_comma_after_the_last_type_argument() {
        for (text, expected) in [
            ("0x1::coin::Coin<0x1::a::B,>", "0x1::coin::Coin<0x1::a::B>"),
            ("0x1::a::B<u8, u16 , >", "0x1::a::B<u8, u16>"),
            ("vector<0x1::a::B<u8,>>", "vector<0x1::a::B<u8>>"),
        ] {
            let tag: TypeTag = text.parse().unwrap();
            assert_eq!(tag.to_string(), expected);
        }
    }

    #[test]
    fn rejects_deep_nesting_and_long_texts() {
        let nested = |n: usize| format!("{}u8{}", "vector<".repeat(n), ">".repeat(n));
        assert!(nested(TYPE_DEPTH_MAX - 1).parse::<TypeTag>().is_ok());
        assert_eq!(
            nested(TYPE_DEPTH_MAX).parse::<TypeTag>(),
            Err(TypeParseError::TooDeep)
        );
        assert_eq!(
            "vector<".repeat(5000).parse::<TypeTag>(),
            Err(TypeParseError::TooLong)
        );
    }

    fn any_tag() -> impl Strategy<Value = TypeTag> {
        let leaf = prop_oneof![
            Just(TypeTag::Bool),
            Just(TypeTag::U256),
            Just(TypeTag::I8),
            Just(TypeTag::Address),
            Just(TypeTag::Signer)
        ];
        leaf.prop_recursive(4, 16, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|t| TypeTag::Vector(Box::new(t))),
                (
                    any::<[u8; 32]>(),
                    "[a-z_][a-z0-9_]{1,8}",
                    "[A-Z][A-Za-z0-9]{0,8}",
                    prop::collection::vec(inner, 0..3)
                )
                    .prop_map(|(address, module, name, type_args)| {
                        StructTag {
                            address: AccountAddress::new(address),
                            module: module.parse().unwrap(),
                            name: name.parse().unwrap(),
                            type_args,
                        }
                        .into()
                    }),
            ]
        })
    }

    proptest! {
        #[test]
        fn parses_the_printed_and_bcs_forms(tag in any_tag()) {
            prop_assert_eq!(tag.to_string().parse::<TypeTag>(), Ok(tag.clone()));
            let bytes = bcs::to_bytes(&tag).unwrap();
            prop_assert_eq!(bcs::from_bytes::<TypeTag>(&bytes).unwrap(), tag);
        }

        #[test]
        fn parses_or_rejects_any_text(text in "\\PC{0,60}") {
            let _ = text.parse::<TypeTag>();
        }
    }
}
