//! Entry and view functions: plain Rust functions.
//!
//! Their parameter and return types determine the ABI, the decoding of arguments, and the encoding
//! of results.

use crate::{Constraints, Context, MiscellaneousStatus, MoveType, TypeSignature, VmError};
use bytes::Bytes;
use ledger_types::{AccountAddress, TypeTag};
use std::fmt;

/// An account that signed the call: the parameter `&signer` of an entry function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signer(pub AccountAddress);

/// The inputs of a call: the signers, starting with the sender, and the arguments in order, each in
/// its BCS form.
pub struct Inputs<'a> {
    signers: std::slice::Iter<'a, AccountAddress>,
    args: std::slice::Iter<'a, Bytes>,
}

impl<'a> Inputs<'a> {
    /// Creates the inputs of a call.
    pub fn new(signers: &'a [AccountAddress], args: &'a [Bytes]) -> Self {
        Self {
            signers: signers.iter(),
            args: args.iter(),
        }
    }

    /// Checks the number of signers of a function with `expected` signer parameters.
    ///
    /// A function with signer parameters receives all signers, so their numbers must match. A
    /// function without them accepts any signers, as on the reference node.
    ///
    /// # Errors
    ///
    /// Returns `NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH` if the numbers differ.
    fn check_signers(&self, expected: usize) -> Result<(), VmError> {
        if expected > 0 && self.signers.len() != expected {
            return Err(MiscellaneousStatus::NumberOfSignerArgumentsMismatch.into());
        }
        Ok(())
    }
}

/// A parameter of an entry or view function.
pub trait Parameter: Sized {
    /// `true` if the parameter is a signer, which takes no argument.
    const IS_SIGNER: bool = false;

    /// Returns the declared type.
    fn signature() -> TypeSignature;

    /// Takes the value of the parameter from the inputs.
    ///
    /// # Errors
    ///
    /// * `NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH` or `NUMBER_OF_ARGUMENTS_MISMATCH` if no input is
    ///   left.
    /// * `FAILED_TO_DESERIALIZE_ARGUMENT` if the argument is not a value of the type.
    /// * The error of [`MoveType::check_argument`] otherwise, for example if an object does not
    ///   exist.
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
        // The limit stops hostile arguments that nest deep. Declared types nest far less.
        let value: T = bcs::from_bytes_with_limit(
            bytes,
            ledger_types::transaction::SIGNED_TRANSACTION_DEPTH_MAX,
        )
        .map_err(|_| MiscellaneousStatus::FailedToDeserializeArgument)?;
        value.check_argument(context, type_args)?;
        Ok(value)
    }
}

/// The results of a function: none, one value, or two.
pub trait Returns {
    /// Returns the declared types of the results.
    fn signatures() -> Vec<TypeSignature>;

    /// Returns the BCS form of each result.
    fn into_bcs_values(self) -> Vec<Bytes>;
}

/// Returns the BCS form of a value.
fn encode<T: MoveType>(value: &T) -> Bytes {
    bcs::to_bytes(value)
        .expect("declared types have a BCS form")
        .into()
}

impl Returns for () {
    fn signatures() -> Vec<TypeSignature> {
        Vec::new()
    }

    fn into_bcs_values(self) -> Vec<Bytes> {
        Vec::new()
    }
}

impl<T: MoveType> Returns for T {
    fn signatures() -> Vec<TypeSignature> {
        vec![T::signature()]
    }

    fn into_bcs_values(self) -> Vec<Bytes> {
        vec![encode(&self)]
    }
}

/// Two results, as a pair.
pub struct Values<T>(pub T);

impl<A: MoveType, B: MoveType> Returns for Values<(A, B)> {
    fn signatures() -> Vec<TypeSignature> {
        vec![A::signature(), B::signature()]
    }

    fn into_bcs_values(self) -> Vec<Bytes> {
        vec![encode(&self.0.0), encode(&self.0.1)]
    }
}

/// A function body that decodes its inputs and encodes its results.
type Body = Box<
    dyn Fn(&mut Context<'_>, &[TypeTag], Inputs<'_>) -> Result<Vec<Bytes>, VmError> + Send + Sync,
>;

/// The callers of a function: transactions call entry functions, view requests call view functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// A function that transactions call.
    Entry,
    /// A function that transactions call and that the ABI declares private.
    PrivateEntry,
    /// A function that view requests call. It changes nothing.
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

/// A Rust function that can be a function body with the parameters `P` and the result `R`.
pub trait FunctionBody<P, R>: Send + Sync + 'static {
    /// Returns the declared types of the parameters.
    fn parameters() -> Vec<TypeSignature>;

    /// Returns the number of parameters that are arguments.
    fn argument_count() -> usize;

    /// Returns the number of parameters that are signers.
    fn signer_count() -> usize;

    /// Decodes the inputs and calls the function.
    ///
    /// # Errors
    ///
    /// * `NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH` if the number of signers is wrong.
    /// * `NUMBER_OF_ARGUMENTS_MISMATCH` if the number of arguments is wrong.
    /// * The error of [`Parameter::take`] for the first invalid input.
    /// * The error of the function.
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
                // As on the reference node, the number of arguments is checked before their values.
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
                body.call(context, type_args, inputs)
                    .map(R::into_bcs_values)
            }),
        }
    }

    /// Creates a public entry function. `body` receives the type arguments and the parameters in
    /// order.
    pub fn entry<P, F: FunctionBody<P, ()>>(name: &'static str, body: F) -> Self {
        Self::new(name, FunctionKind::Entry, body)
    }

    /// Creates an entry function that the ABI declares private.
    pub fn private_entry<P, F: FunctionBody<P, ()>>(name: &'static str, body: F) -> Self {
        Self::new(name, FunctionKind::PrivateEntry, body)
    }

    /// Creates a public view function.
    pub fn view<P, R: Returns, F: FunctionBody<P, R>>(name: &'static str, body: F) -> Self {
        Self::new(name, FunctionKind::View, body)
    }

    /// Returns the same function with these type parameters, each given by its required abilities.
    pub fn with_type_parameters(mut self, constraints: &[Constraints]) -> Self {
        self.type_parameters = constraints.to_vec();
        self
    }

    /// Returns `true` if transactions may call the function.
    pub fn is_entry(&self) -> bool {
        self.kind != FunctionKind::View
    }

    /// Returns `true` if view requests may call the function.
    pub fn is_view(&self) -> bool {
        self.kind == FunctionKind::View
    }

    /// Calls the function and returns its results, each in its BCS form.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::Miscellaneous`] if the type arguments or the inputs do not fit, or the
    /// error of an argument check or of the body.
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
