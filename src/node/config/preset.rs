//! Presets: the configuration files of `config/` that the program contains, so that `--preset` works
//! from any directory.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A configuration file of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name of the file in `config/`, without `.toml`.
    pub name: &'static str,
    /// The content of the file. Its first line is a sentence about it.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal),*) => {
        [$( Preset {
            name: $name,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/config/", $name, ".toml")),
        } ),*]
    };
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 4] = presets!["sdk", "production", "small-machine", "many-pollers"];

    /// Returns the sentence about the preset.
    pub fn about(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches("# ")
    }

    /// Returns the parser of an argument that names a preset.
    pub fn parser() -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(Self::ALL.map(|preset| preset.name)).map(|name| {
            let mut all = Self::ALL.into_iter();
            all.find(|preset| preset.name == name)
                .expect("the parser accepts names of presets only")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ConfigOptions, Origin};
    use std::{fs, path::Path};

    /// Loads the preset with this name alone.
    fn load_preset(name: &str) -> Config {
        let presets = Preset::ALL.into_iter();
        let options = ConfigOptions {
            presets: presets.filter(|preset| preset.name == name).collect(),
            ..ConfigOptions::default()
        };
        Config::load(&options, []).unwrap()
    }

    #[test]
    fn every_configuration_file_is_a_preset_that_loads() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
        let files = fs::read_dir(directory).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let names = names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()));
        let mut files: Vec<_> = names
            .filter(|name| !["node", "genesis"].contains(&&**name))
            .collect();
        files.sort();
        let mut presets = Preset::ALL.map(|preset| preset.name);
        presets.sort_unstable();
        assert_eq!(files, presets);
        for preset in Preset::ALL {
            let set = load_preset(preset.name);
            let is_of_preset =
                |origin: &Origin| matches!(origin, Origin::Preset(name, _) if *name == preset.name);
            assert!(set.values().any(|(.., origin)| is_of_preset(origin)));
            assert!(preset.about().ends_with('.'), "{}", preset.about());
        }
    }

    #[test]
    fn files_override_presets() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("site.toml");
        fs::write(&file, "chain.gas_unit_price_min = 7\n").unwrap();
        let presets = Preset::ALL.into_iter();
        let options = ConfigOptions {
            presets: presets
                .filter(|preset| ["sdk", "small-machine"].contains(&preset.name))
                .collect(),
            files: vec![file.clone()],
            ..ConfigOptions::default()
        };
        let config = Config::load(&options, []).unwrap();
        assert_eq!(config.settings().chain.gas_unit_price_min, 7);
        let price = config.origin("chain.gas_unit_price_min");
        assert_eq!(price, Some(&Origin::File(file, 1)));
        assert_eq!(config.settings().node.signatures.threads, 1);
        let vendor = config.origin("chain.vendor").unwrap();
        let text = Preset::ALL[0].text;
        let line = 1 + text
            .lines()
            .position(|line| line.starts_with("vendor"))
            .unwrap();
        assert_eq!(vendor.to_string(), format!("preset sdk, line {line}"));
    }

    #[test]
    fn sdk_preset_lets_an_account_with_100_000_000_pay_the_gas_of_the_sdk() {
        const SDK_MAX_GAS_AMOUNT: u64 = 2_000_000;
        let config = load_preset("sdk");
        let chain = &config.settings().chain;
        assert_eq!((chain.id, chain.vendor.upper()), (4, "APTOS"));
        assert!(chain.gas_unit_price_min * SDK_MAX_GAS_AMOUNT < 100_000_000);
    }

    #[test]
    fn sdk_preset_has_no_event_handles_of_coins_as_the_reference_node() {
        assert!(!load_preset("sdk").settings().chain.coin_event_handles);
        let defaults = Config::load(&ConfigOptions::default(), []).unwrap();
        assert!(defaults.settings().chain.coin_event_handles);
    }

    #[test]
    fn sdk_preset_allows_transfers_to_the_framework_as_the_reference_node() {
        assert!(load_preset("sdk").settings().chain.transfers_to_framework);
        let defaults = Config::load(&ConfigOptions::default(), []).unwrap();
        assert!(!defaults.settings().chain.transfers_to_framework);
    }

    #[test]
    fn sdk_preset_takes_batches_as_the_reference_node_does() {
        let config = load_preset("sdk");
        assert_eq!(config.settings().api.batch_transactions_max, 10);
        let defaults = Config::load(&ConfigOptions::default(), []).unwrap();
        assert_eq!(defaults.settings().api.batch_transactions_max, 1_000);
    }
}
