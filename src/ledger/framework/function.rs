//! Entry functions: plain Rust functions whose parameter types give the ABI and decode the arguments.

use super::{declare::MoveType, signature::Signature};
use crate::{
    AccountAddress, TypeTag,
    execute::{Context, Failure, MiscellaneousStatus},
};
use bytes::Bytes;
use std::fmt;

/// The account that called; the parameter `&signer` of an entry function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signer(pub AccountAddress);

/// What an entry function is called with: who signed, and the BCS arguments in order.
pub struct Inputs<'a> {
    signers: std::slice::Iter<'a, AccountAddress>,
    args: std::slice::Iter<'a, Bytes>,
}

impl<'a> Inputs<'a> {
    /// The inputs of a call.
    pub fn new(signers: &'a [AccountAddress], args: &'a [Bytes]) -> Self {
        Self {
            signers: signers.iter(),
            args: args.iter(),
        }
    }
}

/// A parameter of an entry function.
pub trait Parameter: Sized {
    /// Its declared type.
    fn signature() -> Signature;

    /// Takes its value from the inputs.
    ///
    /// # Errors
    /// When there is no input left or its bytes are no value of the type.
    fn take(inputs: &mut Inputs<'_>) -> Result<Self, Failure>;
}

impl Parameter for Signer {
    fn signature() -> Signature {
        Signature::SignerReference
    }

    fn take(inputs: &mut Inputs<'_>) -> Result<Self, Failure> {
        let signer = inputs
            .signers
            .next()
            .ok_or(MiscellaneousStatus::NumberOfSignerArgumentsMismatch)?;
        Ok(Self(*signer))
    }
}

impl<T: MoveType> Parameter for T {
    fn signature() -> Signature {
        T::signature()
    }

    fn take(inputs: &mut Inputs<'_>) -> Result<Self, Failure> {
        let bytes = inputs
            .args
            .next()
            .ok_or(MiscellaneousStatus::NumberOfArgumentsMismatch)?;
        // The limit keeps a hostile argument from nesting deep; no declared type comes near it.
        bcs::from_bytes_with_limit(bytes, crate::transaction::SIGNED_TRANSACTION_DEPTH_MAX)
            .map_err(|_| MiscellaneousStatus::FailedToDeserializeArgument.into())
    }
}

type Body = Box<dyn Fn(&mut Context<'_>, &[TypeTag], Inputs<'_>) -> Result<(), Failure> + Send + Sync>;

/// An entry function of a module.
pub struct Function {
    pub(super) name: &'static str,
    pub(super) type_parameters: usize,
    pub(super) parameters: Vec<Signature>,
    body: Body,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A Rust function that can be the body of an entry function with the parameters `P`.
pub trait EntryBody<P>: Send + Sync + 'static {
    /// The declared types of the parameters.
    fn parameters() -> Vec<Signature>;

    /// Decodes the inputs and calls the function.
    ///
    /// # Errors
    /// When the inputs do not fit, or what the function fails with.
    fn call(
        &self,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
        inputs: Inputs<'_>,
    ) -> Result<(), Failure>;
}

macro_rules! entry_bodies {
    ($(($($parameter:ident $value:ident),*))*) => {$(
        impl<F, $($parameter: Parameter),*> EntryBody<($($parameter,)*)> for F
        where
            F: Fn(&mut Context<'_>, &[TypeTag], $($parameter),*) -> Result<(), Failure> + Send + Sync + 'static,
        {
            fn parameters() -> Vec<Signature> {
                vec![$($parameter::signature()),*]
            }

            fn call(
                &self,
                context: &mut Context<'_>,
                type_args: &[TypeTag],
                mut inputs: Inputs<'_>,
            ) -> Result<(), Failure> {
                $(let $value = $parameter::take(&mut inputs)?;)*
                if inputs.args.next().is_some() {
                    return Err(MiscellaneousStatus::NumberOfArgumentsMismatch.into());
                }
                self(context, type_args, $($value),*)
            }
        }
    )*};
}

entry_bodies! {
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
}

impl Function {
    /// A public entry function. `body` gets the type arguments and the parameters in order.
    pub fn entry<P, F: EntryBody<P>>(name: &'static str, body: F) -> Self {
        Self {
            name,
            type_parameters: 0,
            parameters: F::parameters(),
            body: Box::new(move |context, type_args, inputs| body.call(context, type_args, inputs)),
        }
    }

    /// The same function with `count` type parameters.
    pub fn with_type_parameters(mut self, count: usize) -> Self {
        self.type_parameters = count;
        self
    }

    /// Calls the function.
    ///
    /// # Errors
    /// When type arguments or inputs do not fit, or what the body fails with.
    pub(crate) fn call(
        &self,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
        inputs: Inputs<'_>,
    ) -> Result<(), Failure> {
        if type_args.len() != self.type_parameters {
            return Err(MiscellaneousStatus::NumberOfTypeArgumentsMismatch.into());
        }
        (self.body)(context, type_args, inputs)
    }
}
