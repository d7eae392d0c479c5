//! Mathematical functions, by the names of C's library.

use super::{Entry, plain};
use crate::jq::arithmetic::describe;
use crate::value::Value;

/// A function of one number.
macro_rules! unary {
    ($name:literal, $call:expr) => {
        plain($name, 0, |input, _| {
            let call: fn(f64) -> f64 = $call;
            Ok(Value::number(call(number(&input)?)))
        })
    };
}

/// A function of two numbers. The input is not one of them.
macro_rules! binary {
    ($name:literal, $call:expr) => {
        plain($name, 2, |_, args| {
            let call: fn(f64, f64) -> f64 = $call;
            Ok(Value::number(call(number(&args[0])?, number(&args[1])?)))
        })
    };
}

/// All mathematical functions.
pub(super) static NATIVES: &[Entry] = &[
    unary!("floor", f64::floor),
    unary!("ceil", f64::ceil),
    unary!("round", f64::round),
    unary!("trunc", f64::trunc),
    unary!("rint", libm::rint),
    unary!("nearbyint", libm::rint),
    unary!("fabs", f64::abs),
    plain("abs", 0, |input, _| match &input {
        Value::Number(value) if value.float() < 0.0 => Ok(Value::number(-value.float())),
        Value::Number(_) => Ok(input),
        other => Err(Value::text(format!("{} has no absolute value", describe(other)))),
    }),
    unary!("sqrt", f64::sqrt),
    unary!("cbrt", libm::cbrt),
    unary!("exp", libm::exp),
    unary!("exp2", libm::exp2),
    unary!("exp10", |x| libm::pow(10.0, x)),
    unary!("pow10", |x| libm::pow(10.0, x)),
    unary!("expm1", libm::expm1),
    unary!("log", libm::log),
    unary!("log2", libm::log2),
    unary!("log10", libm::log10),
    unary!("log1p", libm::log1p),
    unary!("logb", |x| if x == 0.0 { f64::NEG_INFINITY } else { f64::from(libm::ilogb(x)) }),
    unary!("significand", |x| if x == 0.0 || !x.is_finite() { x } else { libm::scalbn(x, -libm::ilogb(x)) }),
    unary!("gamma", libm::lgamma),
    unary!("lgamma", libm::lgamma),
    unary!("tgamma", libm::tgamma),
    unary!("sin", libm::sin),
    unary!("cos", libm::cos),
    unary!("tan", libm::tan),
    unary!("asin", libm::asin),
    unary!("acos", libm::acos),
    unary!("atan", libm::atan),
    unary!("sinh", libm::sinh),
    unary!("cosh", libm::cosh),
    unary!("tanh", libm::tanh),
    unary!("asinh", libm::asinh),
    unary!("acosh", libm::acosh),
    unary!("atanh", libm::atanh),
    unary!("j0", libm::j0),
    unary!("j1", libm::j1),
    unary!("y0", libm::y0),
    unary!("y1", libm::y1),
    binary!("pow", libm::pow),
    binary!("atan2", libm::atan2),
    binary!("fmod", libm::fmod),
    binary!("fmin", f64::min),
    binary!("fmax", f64::max),
    binary!("fdim", libm::fdim),
    binary!("hypot", libm::hypot),
    binary!("copysign", f64::copysign),
    binary!("drem", libm::remainder),
    binary!("nextafter", libm::nextafter),
    binary!("nexttoward", libm::nextafter),
    binary!("ldexp", |x, n| libm::scalbn(x, n as i32)),
    binary!("scalb", |x, n| libm::scalbn(x, n as i32)),
    binary!("scalbln", |x, n| libm::scalbn(x, n as i32)),
    plain("fma", 3, |_, args| Ok(Value::number(libm::fma(number(&args[0])?, number(&args[1])?, number(&args[2])?)))),
    plain("frexp", 0, |input, _| {
        let (mantissa, exponent) = libm::frexp(number(&input)?);
        Ok(Value::array(vec![Value::number(mantissa), Value::number(f64::from(exponent))]))
    }),
    plain("modf", 0, |input, _| {
        let value = number(&input)?;
        let fraction = if value.is_infinite() { 0.0_f64.copysign(value) } else { value - value.trunc() };
        Ok(Value::array(vec![Value::number(fraction), Value::number(value.trunc())]))
    }),
    plain("lgamma_r", 0, |input, _| {
        let (value, sign) = libm::lgamma_r(number(&input)?);
        Ok(Value::array(vec![Value::number(value), Value::number(f64::from(sign))]))
    }),
    plain("infinite", 0, |_, _| Ok(Value::number(f64::INFINITY))),
    plain("nan", 0, |_, _| Ok(Value::number(f64::NAN))),
    plain("isinfinite", 0, |input, _| Ok(Value::Bool(number(&input)?.is_infinite()))),
    plain("isnan", 0, |input, _| Ok(Value::Bool(number(&input)?.is_nan()))),
    plain("isnormal", 0, |input, _| Ok(Value::Bool(number(&input)?.is_normal()))),
];

fn number(value: &Value) -> Result<f64, Value> {
    value.as_number().ok_or_else(|| Value::text(format!("{} number required", describe(value))))
}
