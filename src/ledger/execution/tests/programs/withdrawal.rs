//! Withdrawal of all balances at the end of a program, which shows that none is locked.
//!
//! Managers unfreeze all stores, the deadlines of escrows pass, and then each owner transfers its
//! balances to new addresses. New addresses have no balance that could overflow.

use crate::programs::program::{
    ACCOUNTS, CallRequest, NATIVE, Program, SecondaryStore, abandoned_coin_of, account, args,
    asset_of, coin_of, object_of, primary_store, resource_account_of,
};
use ledger_types::{
    AccountAddress, EntryFunction,
    transaction::{MultisigPayload, TransactionPayload},
};
use serde_json::Value;

const METADATA: &str = "0x1::fungible_asset::Metadata";
/// Balance that a resource account retains to pay for gas, in the coin's smallest unit.
const GAS_RESERVE: u64 = 100_000_000;

/// An owner of balances, which determines how they are withdrawn.
#[derive(Clone, Copy)]
enum Holder {
    Account(usize),
    Resource(usize),
    Object(usize),
    Multisig,
}

impl Holder {
    fn address(self, program: &Program) -> AccountAddress {
        match self {
            Self::Account(number) => account(number),
            Self::Resource(number) => resource_account_of(number),
            Self::Object(number) => object_of(number),
            Self::Multisig => program.multisig,
        }
    }
}

fn holders() -> Vec<Holder> {
    let each = |number| {
        [
            Holder::Account(number),
            Holder::Resource(number),
            Holder::Object(number),
        ]
    };
    let mut holders = vec![Holder::Multisig];
    holders.extend((0..ACCOUNTS).flat_map(each));
    holders
}

fn number(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

/// Withdraws all balances, and checks that no holder has any user-created asset left.
///
/// To pay for gas, accounts retain their native coins, and resource accounts retain
/// [`GAS_RESERVE`].
pub fn withdraw_all(program: &mut Program) {
    let mut withdrawal = Withdrawal {
        program,
        addresses: 0,
    };
    withdrawal.program.wait_blocks(60);
    withdrawal.unfreeze_stores();
    withdrawal.reject_pending_proposals();
    withdrawal.empty_holders();
    withdrawal.cancel_escrows();
    withdrawal.empty_stores();
    withdrawal.assert_empty();
}

/// A withdrawal of all balances of a program.
struct Withdrawal<'a> {
    program: &'a mut Program,
    /// Number of new addresses that were used.
    addresses: u64,
}

impl Withdrawal<'_> {
    fn new_address(&mut self) -> AccountAddress {
        self.addresses += 1;
        AccountAddress::from_low_u64(0x9_0000 + self.addresses)
    }

    fn unfreeze_stores(&mut self) {
        for of in 0..ACCOUNTS {
            let (coin, asset) = (coin_of(of), asset_of(of));
            for holder in holders() {
                let address = holder.address(self.program);
                let unfreeze = "0x1::managed_fungible_asset::unfreeze";
                self.program
                    .call_successfully(of, unfreeze, &[], args![asset, address]);
                let unfreeze = "0x1::managed_coin::unfreeze_coin_store";
                self.program
                    .call_successfully(of, unfreeze, &[&coin], args![address]);
            }
        }
    }

    /// Rejects all pending proposals, because proposals are resolved in order.
    fn reject_pending_proposals(&mut self) {
        let multisig = self.program.multisig;
        let view = |program: &Program, name: &str| {
            let name = format!("0x1::multisig_account::{name}");
            number(&program.view(&name, &[], args![multisig])[0])
        };
        let next = view(self.program, "next_sequence_number");
        for proposal in view(self.program, "last_resolved_sequence_number") + 1..next {
            for owner in [0, 1] {
                let reject = "0x1::multisig_account::reject_transaction";
                self.program
                    .call_successfully(owner, reject, &[], args![multisig, proposal]);
            }
            let done = "0x1::multisig_account::execute_rejected_transaction";
            self.program
                .call_successfully(0, done, &[], args![multisig]);
        }
    }

    /// Executes a call as a holder. The call must succeed.
    fn call_successfully_as(&mut self, holder: Holder, call: EntryFunction) {
        let request = match holder {
            Holder::Account(key) | Holder::Resource(key) => CallRequest {
                key,
                sender: holder.address(self.program),
                secondary_signers: Vec::new(),
                payload: TransactionPayload::EntryFunction(call),
            },
            Holder::Object(_) => unreachable!("an object signs no transaction"),
            Holder::Multisig => {
                let multisig = self.program.multisig;
                let payload = bcs::to_bytes(&MultisigPayload::EntryFunction(call)).unwrap();
                let create = "0x1::multisig_account::create_transaction";
                self.program
                    .call_successfully(0, create, &[], args![multisig, payload]);
                let numbers = "0x1::multisig_account::next_sequence_number";
                let proposal = number(&self.program.view(numbers, &[], args![multisig])[0]) - 1;
                let approve = "0x1::multisig_account::approve_transaction";
                self.program
                    .call_successfully(1, approve, &[], args![multisig, proposal]);
                self.program.multisig_request(0, None)
            }
        };
        self.program.run_successfully(request);
    }

    /// Transfers `amount` of an asset from a holder to a new address, and checks that it arrives.
    fn send(&mut self, holder: Holder, asset: AccountAddress, amount: u64) {
        let to = self.new_address();
        if let Holder::Object(of) = holder {
            let owner = self.root_owner(object_of(of));
            let function = "0x1::managed_object::transfer_fungible_assets";
            self.program.call_successfully(
                owner,
                function,
                &[],
                args![object_of(of), asset, to, amount],
            );
        } else {
            let function = "0x1::primary_fungible_store::transfer";
            let call = self
                .program
                .call(function, &[METADATA], args![asset, to, amount]);
            self.call_successfully_as(holder, call);
        }
        assert_eq!(
            self.balance(to, asset),
            amount,
            "the recipient holds the amount"
        );
    }

    fn root_owner(&self, object: AccountAddress) -> usize {
        let owner = self.program.view(
            "0x1::object::root_owner",
            &["0x1::object::ObjectCore"],
            args![object],
        );
        let is_owner = |number: &usize| account(*number).to_string() == owner[0].as_str().unwrap();
        (0..ACCOUNTS).find(is_owner).expect("accounts own objects")
    }

    fn balance(&self, owner: AccountAddress, asset: AccountAddress) -> u64 {
        let function = "0x1::primary_fungible_store::balance";
        number(
            &self
                .program
                .view(function, &[METADATA], args![owner, asset])[0],
        )
    }

    /// Returns all assets that users created, including the paired assets of coins.
    fn assets(&self) -> Vec<AccountAddress> {
        let of_account = |of| {
            let coins = [coin_of(of), abandoned_coin_of(of)].map(|coin| self.paired(&coin));
            [coins[0], coins[1], asset_of(of)]
        };
        (0..ACCOUNTS).flat_map(of_account).collect()
    }

    fn paired(&self, coin: &str) -> AccountAddress {
        let coin = coin.parse().unwrap();
        ledger_framework::modules::coin::paired_metadata_address(&self.program.chain.chain, &coin)
    }

    fn empty_holders(&mut self) {
        for holder in holders() {
            for asset in self.assets() {
                self.empty(holder, asset);
            }
            let native = AccountAddress::NATIVE_ASSET;
            let amount_held = self.balance(holder.address(self.program), native);
            let reserve = match holder {
                Holder::Account(_) => continue,
                Holder::Resource(_) => GAS_RESERVE,
                Holder::Object(_) | Holder::Multisig => 0,
            };
            if amount_held > reserve {
                self.send(holder, native, amount_held - reserve);
            }
        }
    }

    fn empty(&mut self, holder: Holder, asset: AccountAddress) {
        let amount_held = self.balance(holder.address(self.program), asset);
        if amount_held > 0 {
            self.send(holder, asset, amount_held);
        }
    }

    fn cancel_escrows(&mut self) {
        for payer in 0..ACCOUNTS {
            for coin in (0..ACCOUNTS).map(coin_of).chain([NATIVE.to_owned()]) {
                self.cancel_escrows_of(payer, &coin);
            }
        }
    }

    fn cancel_escrows_of(&mut self, payer: usize, coin: &str) {
        let locked_amount = |program: &Program| {
            number(&program.view("0x1::escrow::locked", &[coin], args![account(payer)])[0])
        };
        for escrow in 0u64.. {
            if locked_amount(self.program) == 0 {
                break;
            }
            let get = "0x1::escrow::get";
            let opened = self
                .program
                .view(get, &[coin], args![account(payer), escrow]);
            if opened[0]["vec"].get(0).is_some() {
                self.program.call_successfully(
                    payer,
                    "0x1::escrow::cancel",
                    &[coin],
                    args![escrow],
                );
                if coin != NATIVE {
                    self.empty(Holder::Account(payer), self.paired(coin));
                }
            }
        }
    }

    fn empty_stores(&mut self) {
        let store_type = "0x1::fungible_asset::FungibleStore";
        for SecondaryStore {
            address: store,
            asset,
        } in self.program.stores.clone()
        {
            let exists = self
                .program
                .view("0x1::fungible_asset::store_exists", &[], args![store]);
            if exists[0] == false {
                continue;
            }
            // Only the manager of an asset can freeze a secondary store. A coin has no manager.
            if let Some(manager) = (0..ACCOUNTS).find(|of| asset_of(*of) == asset) {
                let unfreeze = "0x1::managed_fungible_asset::unfreeze_store";
                self.program
                    .call_successfully(manager, unfreeze, &[], args![store]);
            }
            let balance =
                self.program
                    .view("0x1::fungible_asset::balance", &[store_type], args![store]);
            let (owner, to) = (self.root_owner(store), self.new_address());
            // A transfer of 0 creates the primary store of the recipient.
            let create_store = "0x1::primary_fungible_store::transfer";
            self.program.call_successfully(
                owner,
                create_store,
                &[METADATA],
                args![asset, to, 0u64],
            );
            let transfer = "0x1::fungible_asset::transfer";
            let arguments = args![store, primary_store(to, asset), number(&balance[0])];
            self.program
                .call_successfully(owner, transfer, &[store_type], arguments);
            let remove = "0x1::managed_fungible_asset::remove_store";
            self.program
                .call_successfully(owner, remove, &[], args![store]);
        }
    }

    fn assert_empty(&self) {
        for holder in holders() {
            for asset in self.assets() {
                assert_eq!(self.balance(holder.address(self.program), asset), 0);
            }
        }
    }
}
