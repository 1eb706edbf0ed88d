//! Entry and view functions: plain Rust functions whose parameter and return types give the ABI,
//! decode the arguments and encode the results.

use crate::{Constraints, Context, MiscellaneousStatus, MoveType, TypeSignature, VmError};
use bytes::Bytes;
use ledger_types::{AccountAddress, TypeTag};
use std::fmt;

/// The account that called; the parameter `&signer` of an entry function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signer(pub AccountAddress);

/// What an entry function is called with: who signed, the sender first, and the BCS arguments in order.
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

    /// A function that asks for signers gets all who signed, so there must be as many. One that asks for
    /// none does not care who signed, as in the reference.
    fn check_signers(&self, expected: usize) -> Result<(), VmError> {
        if expected > 0 && self.signers.len() != expected {
            return Err(MiscellaneousStatus::NumberOfSignerArgumentsMismatch.into());
        }
        Ok(())
    }
}

/// A parameter of an entry function.
pub trait Parameter: Sized {
    /// Whether it is the account that called, which no argument carries.
    const IS_SIGNER: bool = false;

    /// Its declared type.
    fn signature() -> TypeSignature;

    /// Takes its value from the inputs.
    ///
    /// # Errors
    /// When there is no input left, its bytes are no value of the type, or the value names what is
    /// not there.
    fn take(
        inputs: &mut Inputs<'_>,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
    ) -> Result<Self, VmError>;
}

impl Parameter for Signer {
    const IS_SIGNER: bool = true;

    fn signature() -> TypeSignature {
        TypeSignature::SignerReference
    }

    fn take(inputs: &mut Inputs<'_>, _: &mut Context<'_>, _: &[TypeTag]) -> Result<Self, VmError> {
        let signer = inputs
            .signers
            .next()
            .ok_or(MiscellaneousStatus::NumberOfSignerArgumentsMismatch)?;
        Ok(Self(*signer))
    }
}

impl<T: MoveType> Parameter for T {
    fn signature() -> TypeSignature {
        T::signature()
    }

    fn take(
        inputs: &mut Inputs<'_>,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
    ) -> Result<Self, VmError> {
        let bytes = inputs
            .args
            .next()
            .ok_or(MiscellaneousStatus::NumberOfArgumentsMismatch)?;
        // The limit keeps a hostile argument from nesting deep; no declared type comes near it.
        let value: T = bcs::from_bytes_with_limit(
            bytes,
            ledger_types::transaction::SIGNED_TRANSACTION_DEPTH_MAX,
        )
        .map_err(|_| MiscellaneousStatus::FailedToDeserializeArgument)?;
        value.check_argument(context, type_args)?;
        Ok(value)
    }
}

/// What a function gives back: nothing, one value, or a few.
pub trait Returns {
    /// The declared types.
    fn signatures() -> Vec<TypeSignature>;

    /// The BCS form of each value.
    fn into_values(self) -> Vec<Bytes>;
}

fn encode<T: MoveType>(value: &T) -> Bytes {
    bcs::to_bytes(value)
        .expect("declared types have a BCS form")
        .into()
}

impl Returns for () {
    fn signatures() -> Vec<TypeSignature> {
        Vec::new()
    }

    fn into_values(self) -> Vec<Bytes> {
        Vec::new()
    }
}

impl<T: MoveType> Returns for T {
    fn signatures() -> Vec<TypeSignature> {
        vec![T::signature()]
    }

    fn into_values(self) -> Vec<Bytes> {
        vec![encode(&self)]
    }
}

/// More than one value.
pub struct Values<T>(pub T);

impl<A: MoveType, B: MoveType> Returns for Values<(A, B)> {
    fn signatures() -> Vec<TypeSignature> {
        vec![A::signature(), B::signature()]
    }

    fn into_values(self) -> Vec<Bytes> {
        vec![encode(&self.0.0), encode(&self.0.1)]
    }
}

type Body = Box<
    dyn Fn(&mut Context<'_>, &[TypeTag], Inputs<'_>) -> Result<Vec<Bytes>, VmError> + Send + Sync,
>;

/// Who may call a function: both kinds are called by name, a transaction the one, a view the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// Called by transactions.
    Entry,
    /// Called by transactions, and by the ABI's word not by other modules.
    PrivateEntry,
    /// Called by views; changes nothing.
    View,
}

/// A function of a module.
pub struct Function {
    pub(crate) name: &'static str,
    pub(crate) kind: FunctionKind,
    pub(crate) type_parameters: Vec<Constraints>,
    pub(crate) parameters: Vec<TypeSignature>,
    pub(crate) returns: Vec<TypeSignature>,
    body: Body,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A Rust function that can be the body of a function with the parameters `P` and the result `R`.
pub trait FunctionBody<P, R>: Send + Sync + 'static {
    /// The declared types of the parameters.
    fn parameters() -> Vec<TypeSignature>;

    /// How many of the parameters are arguments, not signers.
    fn argument_count() -> usize;

    /// How many of the parameters are signers.
    fn signer_count() -> usize;

    /// Decodes the inputs and calls the function.
    ///
    /// # Errors
    /// When the inputs do not fit, or what the function fails with.
    fn call(
        &self,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
        inputs: Inputs<'_>,
    ) -> Result<R, VmError>;
}

macro_rules! function_bodies {
    ($(($($parameter:ident $value:ident),*))*) => {$(
        impl<F, R, $($parameter: Parameter),*> FunctionBody<($($parameter,)*), R> for F
        where
            F: Fn(&mut Context<'_>, &[TypeTag], $($parameter),*) -> Result<R, VmError> + Send + Sync + 'static,
        {
            fn parameters() -> Vec<TypeSignature> {
                vec![$($parameter::signature()),*]
            }

            #[allow(unused_mut, reason = "a function without parameters takes nothing of its inputs")]
            fn call(
                &self,
                context: &mut Context<'_>,
                type_args: &[TypeTag],
                mut inputs: Inputs<'_>,
            ) -> Result<R, VmError> {
                inputs.check_signers(Self::signer_count())?;
                // The number is checked before any value, as the reference does.
                if inputs.args.len() != Self::argument_count() {
                    return Err(MiscellaneousStatus::NumberOfArgumentsMismatch.into());
                }
                $(let $value = $parameter::take(&mut inputs, context, type_args)?;)*
                self(context, type_args, $($value),*)
            }

            fn argument_count() -> usize {
                0 $(+ usize::from(!$parameter::IS_SIGNER))*
            }

            fn signer_count() -> usize {
                0 $(+ usize::from($parameter::IS_SIGNER))*
            }
        }
    )*};
}

function_bodies! {
    ()
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, G g)
    (A a, B b, C c, D d, E e, G g, H h)
    (A a, B b, C c, D d, E e, G g, H h, I i)
}

impl Function {
    fn new<P, R: Returns, F: FunctionBody<P, R>>(
        name: &'static str,
        kind: FunctionKind,
        body: F,
    ) -> Self {
        Self {
            name,
            kind,
            type_parameters: Vec::new(),
            parameters: F::parameters(),
            returns: R::signatures(),
            body: Box::new(move |context, type_args, inputs| {
                body.call(context, type_args, inputs).map(R::into_values)
            }),
        }
    }

    /// A public entry function. `body` gets the type arguments and the parameters in order.
    pub fn entry<P, F: FunctionBody<P, ()>>(name: &'static str, body: F) -> Self {
        Self::new(name, FunctionKind::Entry, body)
    }

    /// An entry function that the ABI shows as private.
    pub fn private_entry<P, F: FunctionBody<P, ()>>(name: &'static str, body: F) -> Self {
        Self::new(name, FunctionKind::PrivateEntry, body)
    }

    /// A public view function.
    pub fn view<P, R: Returns, F: FunctionBody<P, R>>(name: &'static str, body: F) -> Self {
        Self::new(name, FunctionKind::View, body)
    }

    /// The same function with these type parameters; each names the abilities it asks for.
    pub fn with_type_parameters(mut self, constraints: &[Constraints]) -> Self {
        self.type_parameters = constraints.to_vec();
        self
    }

    /// Whether transactions may call it.
    pub fn is_entry(&self) -> bool {
        self.kind != FunctionKind::View
    }

    /// Whether views may call it.
    pub fn is_view(&self) -> bool {
        self.kind == FunctionKind::View
    }

    /// Calls the function; gives what it returns.
    ///
    /// # Errors
    /// When type arguments or inputs do not fit, or what the body fails with.
    pub fn call(
        &self,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
        inputs: Inputs<'_>,
    ) -> Result<Vec<Bytes>, VmError> {
        context.check_type_arguments(type_args, &self.type_parameters)?;
        (self.body)(context, type_args, inputs)
    }
}
