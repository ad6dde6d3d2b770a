//! Decimal numbers of any size.

use std::cmp::Ordering;

/// A decimal number of any size, compared exactly.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    /// -1, 0 or 1.
    sign: i8,
    /// The number is 0.d1d2d3... times ten to the power of this.
    exponent: i64,
    /// The digits without leading and trailing zeros; empty for zero.
    digits: Vec<u8>,
}

impl Decimal {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (is_negative, magnitude) = match text.as_bytes() {
            [b'-', ..] => (true, &text[1..]),
            [b'+', ..] => (false, &text[1..]),
            _ => (false, text),
        };
        let sign = if is_negative { -1 } else { 1 };
        if magnitude == "inf" {
            return Some(Decimal {
                sign,
                exponent: i64::MAX,
                digits: vec![b'1'],
            });
        }
        let (mantissa, power) = match magnitude.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power_of_ten(power)?),
            None => (magnitude, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        let end = digits.iter().rposition(|digit| *digit != b'0');
        let Some(end) = end else {
            return Some(Decimal {
                sign: 0,
                exponent: 0,
                digits: Vec::new(),
            });
        };
        Some(Decimal {
            sign,
            // No text is longer than `i64` counts.
            exponent: (whole.len() as i64 - zeros as i64).saturating_add(power),
            digits: digits[zeros..=end].to_vec(),
        })
    }

    /// The number without an exponent, unless it has very many digits.
    pub(super) fn plain(&self) -> String {
        const MOST_ZEROS: i64 = 400;
        let digits = String::from_utf8_lossy(&self.digits);
        let sign = if self.sign < 0 { "-" } else { "" };
        let length = digits.len();
        match usize::try_from(self.exponent.unsigned_abs()) {
            _ if self.digits.is_empty() => "0".to_owned(),
            Ok(zeros) if (-MOST_ZEROS..=0).contains(&self.exponent) => {
                format!("{sign}0.{}{digits}", "0".repeat(zeros))
            }
            Ok(whole) if whole < length && self.exponent > 0 => {
                format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
            }
            Ok(whole) if (0..=MOST_ZEROS).contains(&self.exponent) => {
                format!("{sign}{digits}{}", "0".repeat(whole - length))
            }
            _ => format!(
                "{sign}{digits}e{}",
                self.exponent.saturating_sub(length as i64)
            ),
        }
    }
}

/// An exponent; one that is out of range becomes the largest or smallest that leaves room for more digits.
fn power_of_ten(text: &str) -> Option<i64> {
    const LIMIT: i64 = i64::MAX / 2;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let out_of_range = if text.starts_with('-') { -LIMIT } else { LIMIT };
    let power = text.parse().unwrap_or(out_of_range);
    Some(power.clamp(-LIMIT, LIMIT))
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sign.cmp(&other.sign).then_with(|| {
            let exponents = self.exponent.cmp(&other.exponent);
            let magnitudes = exponents.then_with(|| self.digits.cmp(&other.digits));
            if self.sign < 0 {
                magnitudes.reverse()
            } else {
                magnitudes
            }
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
