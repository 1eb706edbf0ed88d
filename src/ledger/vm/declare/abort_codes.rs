//! Abort codes: `category << 16 | reason`, with a name and a description
//! (docs/reference/framework.md#f10).

/// The category of an abort, which is the upper half of its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
#[allow(
    missing_docs,
    reason = "the variants are the reference's categories of the same names"
)]
pub enum Category {
    /// No category: the code is the reason alone.
    None = 0,
    InvalidArgument = 1,
    OutOfRange = 2,
    InvalidState = 3,
    Unauthenticated = 4,
    PermissionDenied = 5,
    NotFound = 6,
    Aborted = 7,
    AlreadyExists = 8,
    ResourceExhausted = 9,
    Internal = 11,
    NotImplemented = 12,
    Unavailable = 13,
}

/// A reason to abort that a module declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorConstant {
    /// Name of the constant; empty if it has none.
    pub name: &'static str,
    /// Category of the abort.
    pub category: Category,
    /// Lower half of the code.
    pub reason: u64,
    /// Description of the abort.
    pub description: &'static str,
}

/// Declares the abort codes of a module as one table of names, categories, reasons, and
/// descriptions.
///
/// The description is part of `vm_status` and also documents the constant. With `const NAME;` as
/// the first line, the macro also declares the list of all codes of the table.
#[macro_export]
macro_rules! abort_codes {
    (
        $list_vis:vis const $list:ident;
        $($vis:vis $name:ident = $category:ident $reason:literal $description:literal;)*
    ) => {
        $crate::abort_codes! { $($vis $name = $category $reason $description;)* }

        $list_vis const $list: &[$crate::ErrorConstant] = &[$($name),*];
    };
    ($($vis:vis $name:ident = $category:ident $reason:literal $description:literal;)*) => {
        $(
            #[doc = $description]
            $vis const $name: $crate::ErrorConstant =
                $crate::ErrorConstant::new(
                    stringify!($name),
                    $crate::Category::$category,
                    $reason,
                    $description,
                );
        )*
    };
}

impl ErrorConstant {
    /// Creates a constant. `abort_codes!` declares the constants of a module.
    pub const fn new(
        name: &'static str,
        category: Category,
        reason: u64,
        description: &'static str,
    ) -> Self {
        Self {
            name,
            category,
            reason,
            description,
        }
    }

    /// Returns the same constant with another category.
    pub const fn with_category(mut self, category: Category) -> Self {
        self.category = category;
        self
    }

    /// Creates a code without a name, as native functions have.
    pub const fn unnamed(code: u64) -> Self {
        Self::new("", Category::None, code, "")
    }

    /// Returns the whole code: `category << 16 | reason`.
    pub const fn code(&self) -> u64 {
        (self.category as u64) << 16 | self.reason
    }
}
