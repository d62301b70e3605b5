//! What machines cost.

use std::str::FromStr;

use super::observed::Observed;
use super::size::{MachineSize, SizeSelector};

/// The currency of prices, as typed; empty where none is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Currency {
    pub symbol: String,
    /// True if the symbol stands before the number.
    pub leads: bool,
}

/// The price of a machine of a tier, as typed: `api=0.17/h`, or for machines of one size `api@0.5=$0.09/h`.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    pub tier: String,
    /// The size that the price is for; `None` for the planned size, unless that has a price of its own.
    pub size: Option<SizeSelector>,
    pub currency: Currency,
    pub per_hour: f64,
    text: String,
}

/// Prices in one currency, at most one for each tier and size.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceList {
    pub currency: Currency,
    prices: Vec<Price>,
}

/// Prices that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    #[error(
        "`{0}` is no price; write TIER=0.17/h, 'TIER=$0.17/h' in single quotes, or TIER@0.5=0.09/h for machines with 0.5 cores"
    )]
    Form(String),
    #[error(
        "`{0}` has no digit before the dot; a shell replaces $0 or $1 unless the price is in single quotes: write 'TIER=$0.17/h'"
    )]
    Shell(String),
    #[error("`{one}` and `{other}` are in different currencies; write all prices in one")]
    Currencies { one: String, other: String },
    #[error("`{one}` and `{other}` price the same machines; write one of them")]
    Twice { one: String, other: String },
    #[error("`{text}`: there is no tier `{tier}`; there are {known}")]
    Tier { text: String, tier: String, known: String },
    #[error("`{text}`: no machine of `{tier}` has that size; {known}")]
    Size { text: String, tier: String, known: String },
}

impl FromStr for Price {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<Self, PriceError> {
        let wrong = || PriceError::Form(text.to_owned());
        let (machine, price) = text.rsplit_once('=').ok_or_else(wrong)?;
        let (tier, size) = match machine.rsplit_once('@') {
            Some((tier, size)) => (tier, Some(SizeSelector::parse(size.trim()).ok_or_else(wrong)?)),
            None => (machine, None),
        };
        let amount = price.trim().strip_suffix("/h").ok_or_else(wrong)?.trim();
        if is_cut(amount) {
            return Err(PriceError::Shell(text.to_owned()));
        }
        let (currency, per_hour) = amount_of(amount).ok_or_else(wrong)?;
        let tier = Some(tier.trim()).filter(|tier| !tier.is_empty()).ok_or_else(wrong)?.to_owned();
        Ok(Self { tier, size, currency, per_hour, text: text.to_owned() })
    }
}

fn is_of_number(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '.'
}

/// True if only a currency precedes the first dot: a shell turns `$1.20` into `.20`, and `$0.17` into `bash.17`.
fn is_cut(amount: &str) -> bool {
    amount.find(is_of_number).is_some_and(|begin| amount[begin..].starts_with('.'))
}

/// Parses a number, optionally with a currency before or after it.
fn amount_of(text: &str) -> Option<(Currency, f64)> {
    let begin = text.find(is_of_number)?;
    let end = text.rfind(is_of_number)? + 1;
    let (before, number, after) = (text[..begin].trim(), &text[begin..end], text[end..].trim());
    let is_symbol = |symbol: &str| !symbol.contains(['-', '+', '/']);
    let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)?;
    match (before, after) {
        (symbol, "") if is_symbol(symbol) => {
            Some((Currency { symbol: symbol.to_owned(), leads: !symbol.is_empty() }, number))
        }
        ("", symbol) if is_symbol(symbol) => {
            Some((Currency { symbol: symbol.to_owned(), leads: false }, number))
        }
        _ => None,
    }
}

impl PriceList {
    /// Collects prices; `None` if there are none.
    ///
    /// # Errors
    /// When two prices are in different currencies, or for the same machines.
    pub fn new(prices: Vec<Price>) -> Result<Option<Self>, PriceError> {
        let Some(first) = prices.first() else { return Ok(None) };
        let both = |one: &Price, other: &Price| (one.text.clone(), other.text.clone());
        if let Some(price) = prices.iter().find(|price| price.currency.symbol != first.currency.symbol) {
            let (one, other) = both(first, price);
            return Err(PriceError::Currencies { one, other });
        }
        for (index, price) in prices.iter().enumerate() {
            let is_same = |other: &&Price| (&other.tier, other.size) == (&price.tier, price.size);
            if let Some(before) = prices[..index].iter().find(is_same) {
                let (one, other) = both(before, price);
                return Err(PriceError::Twice { one, other });
            }
        }
        Ok(Some(Self { currency: first.currency.clone(), prices }))
    }

    /// Checks that each price is for an observed tier and size, and that no size has two prices.
    ///
    /// # Errors
    /// When a price is for an unknown tier or size, or two are for the same machines.
    pub fn check(&self, observed: &Observed) -> Result<(), PriceError> {
        self.prices.iter().try_for_each(|price| price.check(observed))?;
        let sizes = observed.tiers.iter().flat_map(|tier| tier.sizes.iter().map(move |size| (tier, size)));
        for (tier, sized) in sizes {
            let is_for = |price: &&Price| {
                price.tier == tier.name && price.size.is_some_and(|selector| selector.includes(&sized.size))
            };
            let mut of_size = self.prices.iter().filter(is_for);
            if let Some((one, other)) = of_size.next().zip(of_size.next()) {
                return Err(PriceError::Twice { one: one.text.clone(), other: other.text.clone() });
            }
        }
        Ok(())
    }

    /// True if a price is for machines of this tier and size only.
    pub(super) fn names(&self, tier: &str, size: &MachineSize) -> bool {
        let of_tier = self.prices.iter().filter(|price| price.tier == tier);
        of_tier.filter_map(|price| price.size).any(|selector| selector.includes(size))
    }

    /// The price of a machine of this tier and size per hour, or `None`. A price for the size precedes the price of the tier.
    pub fn per_hour(&self, tier: &str, size: Option<&MachineSize>) -> Option<f64> {
        let own = || self.prices.iter().filter(|price| price.tier == tier);
        let is_for =
            |price: &&Price| price.size.zip(size).is_some_and(|(selector, size)| selector.includes(size));
        let price = own().find(is_for).or_else(|| own().find(|price| price.size.is_none()));
        price.map(|price| price.per_hour)
    }
}

impl Price {
    fn check(&self, observed: &Observed) -> Result<(), PriceError> {
        let (text, tier) = (self.text.clone(), self.tier.clone());
        let Some(known) = observed.tiers.iter().find(|known| known.name == self.tier) else {
            let known: Vec<&str> = observed.tiers.iter().map(|tier| tier.name.as_str()).collect();
            return Err(PriceError::Tier { text, tier, known: known.join(", ") });
        };
        let is_there = |selector: SizeSelector| known.sizes.iter().any(|size| selector.includes(&size.size));
        if self.size.is_none_or(is_there) {
            return Ok(());
        }
        let sizes: Vec<String> = known.sizes.iter().map(|size| size.size.to_string()).collect();
        let known = match sizes.len() {
            0 => "what its machines have was not observed".to_owned(),
            _ => format!("they have {}", sizes.join("; or ")),
        };
        Err(PriceError::Size { text, tier, known })
    }
}

#[cfg(test)]
mod tests {
    use super::super::observed::{ObservedTier, SizedDemands};
    use super::*;

    fn price(text: &str) -> Price {
        text.parse().unwrap()
    }

    fn list(texts: &[&str]) -> Result<Option<PriceList>, PriceError> {
        PriceList::new(texts.iter().map(|text| price(text)).collect())
    }

    #[test]
    fn a_price_keeps_its_currency_and_its_size() {
        let read = |text: &str| {
            let price = price(text);
            (price.tier, price.currency.symbol, price.currency.leads, price.per_hour)
        };
        assert_eq!(read("api=0.17/h"), ("api".to_owned(), String::new(), false, 0.17));
        assert_eq!(read("api=$0.17/h"), ("api".to_owned(), "$".to_owned(), true, 0.17));
        assert_eq!(read("api=0.17 EUR/h"), ("api".to_owned(), "EUR".to_owned(), false, 0.17));
        assert_eq!(price("a=b@20Mbit=€3/h").tier, "a=b");
        assert_eq!(price("api@0.5=0/h").size, Some(SizeSelector::Cores(0.5)));
        for wrong in
            ["api", "api=0.17", "api=-1/h", "=1/h", "api@big=1/h", "api=1/h/h", "api=$/h", "api=1.2.3/h"]
        {
            assert_eq!(wrong.parse::<Price>(), Err(PriceError::Form(wrong.to_owned())), "{wrong}");
        }
    }

    #[test]
    fn what_a_shell_leaves_of_a_price_in_dollars_is_refused() {
        for cut in ["api=.20/h", "api=bash.17/h", "api@0.5=-bash.17/h", "api=/bin/sh.17/h", "api=run.sh.17/h"]
        {
            let refused = cut.parse::<Price>().unwrap_err();
            assert_eq!(refused, PriceError::Shell(cut.to_owned()));
            assert!(refused.to_string().contains("'TIER=$0.17/h'"), "{refused}");
        }
    }

    #[test]
    fn prices_of_two_currencies_or_of_the_same_machines_are_refused() {
        assert!(matches!(list(&["api=$1/h", "web=€1/h"]), Err(PriceError::Currencies { .. })));
        assert!(matches!(list(&["api=$1/h", "web=1/h"]), Err(PriceError::Currencies { .. })));
        assert!(matches!(list(&["api=1/h", "web=1/h", "api=2/h"]), Err(PriceError::Twice { .. })));
        assert!(list(&["api=1/h", "api@0.5=2/h"]).unwrap().is_some());
        assert_eq!(list(&[]), Ok(None));
    }

    #[test]
    fn two_prices_that_are_of_one_size_are_refused() {
        let size = MachineSize { cores: Some(0.5), out_bits_per_sec: Some(20e6), ..MachineSize::default() };
        let sizes = vec![SizedDemands { size, is_planned: true, demands: Vec::new() }];
        let tier = ObservedTier { name: "api".to_owned(), sizes, ..ObservedTier::default() };
        let observed = Observed { tiers: vec![tier], ..Observed::default() };
        let check = |texts: &[&str]| list(texts).unwrap().unwrap().check(&observed);
        assert!(matches!(check(&["api@0.5=1/h", "api@20Mbit=2/h"]), Err(PriceError::Twice { .. })));
        assert_eq!(check(&["api@0.5=1/h", "api=2/h"]), Ok(()));
    }

    #[test]
    fn the_price_of_a_size_counts_before_that_of_the_tier() {
        let list = list(&["api=1/h", "api@0.5=0.4/h"]).unwrap().unwrap();
        let size = |cores: f64| MachineSize { cores: Some(cores), ..MachineSize::default() };
        assert_eq!(list.per_hour("api", Some(&size(0.5))), Some(0.4));
        assert_eq!(list.per_hour("api", Some(&size(2.0))), Some(1.0));
        assert_eq!(list.per_hour("web", None), None);
    }
}
