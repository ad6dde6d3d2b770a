//! Numbers and characters of options, and the messages for those that are none.

use std::str::FromStr;

use simgpu_io::Quote;

/// A whole number from 1 on, of a type without 0.
///
/// # Errors
/// What is wrong, if the text is no such number.
pub(crate) fn whole_number<T: FromStr>(text: &str) -> Result<T, String> {
    let is = |digit: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(digit);
    text.parse().map_err(|_| {
        let problem = if is(|digit| *digit == b'0') {
            "must be at least 1"
        } else if is(u8::is_ascii_digit) {
            "is too large"
        } else {
            "is no whole number from 1 on"
        };
        problem.to_owned()
    })
}

/// A whole number from 0 on.
///
/// # Errors
/// What is wrong, if the text is no such number.
pub(crate) fn whole_number_or_0<T: FromStr>(text: &str) -> Result<T, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().map_err(|_| {
        if is_number {
            "is too large".to_owned()
        } else {
            "is no whole number from 0 on".to_owned()
        }
    })
}

/// A number of bytes, with a unit or without.
///
/// # Errors
/// What is wrong, if the text is no such number.
pub fn size(text: &str) -> Result<u64, String> {
    let size: Result<bytesize::ByteSize, _> = text.parse();
    match size {
        Ok(size) if size.as_u64() > 0 => Ok(size.as_u64()),
        Ok(_) => Err("must be more than 0".to_owned()),
        Err(_) => Err("is no size; give a number and a unit, such as 512MiB or 4GiB".to_owned()),
    }
}

/// A number of bytes of memory. A bare number is refused, since it may be meant as MiB.
///
/// # Errors
/// What is wrong, if the text is no such number or has no unit.
pub fn memory_size(text: &str) -> Result<u64, String> {
    let bytes = size(text)?;
    if text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        Ok(bytes)
    } else {
        Err("has no unit; write, for example, 512MiB, or 512B for bytes".to_owned())
    }
}

/// A number.
///
/// # Errors
/// What is wrong, if the text is no number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "is no number".to_owned())
}

/// The byte that `--delimiter` names.
///
/// # Errors
/// The remedy, if the text is neither one character of ASCII nor `tab`.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if matches!(text, "\\t" | "tab") => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("give one character of ASCII, or tab".to_owned()),
    }
}

/// What `--quote` names.
///
/// # Errors
/// The remedy, if the text is neither one character of ASCII nor `none`.
pub fn quote(text: &str) -> Result<Quote, String> {
    match text.as_bytes() {
        b"none" => Ok(Quote::None),
        [byte] if byte.is_ascii() => Ok(Quote::Character(*byte)),
        _ => Err("give one character of ASCII, or none".to_owned()),
    }
}

/// Parser of --num-perm, with its range.
pub(crate) fn num_perm_range() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(simgpu::scheme::MAX_NUM_PERM))
}
