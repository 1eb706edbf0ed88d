//! Abort codes: `category << 16 | reason`, with a name and words for people (framework-notes section 3).

/// The category of an abort, the upper half of its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
#[allow(missing_docs)]
pub enum Category {
    InvalidArgument = 1,
    OutOfRange = 2,
    InvalidState = 3,
    PermissionDenied = 5,
    NotFound = 6,
    AlreadyExists = 8,
}

/// A reason for which the functions of a module abort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorConstant {
    /// The constant's name.
    pub name: &'static str,
    /// The category it is raised with.
    pub category: Category,
    /// The lower half of the code.
    pub reason: u64,
    /// What it means, in words.
    pub description: &'static str,
}

impl ErrorConstant {
    /// A constant; meant for the `errors` of a module declaration.
    pub const fn new(name: &'static str, category: Category, reason: u64, description: &'static str) -> Self {
        Self {
            name,
            category,
            reason,
            description,
        }
    }

    /// The whole code.
    pub const fn code(&self) -> u64 {
        (self.category as u64) << 16 | self.reason
    }
}
