//! Limits of a sandbox, as arguments of Python.

use std::time::Duration;

use isopod::units;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::error;

/// The limits of a sandbox.
#[pyclass(frozen, eq, module = "isopod", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct Limits(pub(crate) isopod::Limits);

/// A number, or a text with a unit.
#[derive(FromPyObject)]
enum Amount {
    #[pyo3(transparent)]
    Whole(u64),
    #[pyo3(transparent)]
    Number(f64),
    #[pyo3(transparent)]
    Text(String),
}

impl Amount {
    fn time(self) -> Result<Duration, String> {
        match self {
            Amount::Whole(number) => units::time(&number.to_string()),
            Amount::Number(number) => units::time(&format!("{number:.9}")),
            Amount::Text(text) => units::time(&text),
        }
    }

    fn bytes(self) -> Result<u64, String> {
        match self {
            Amount::Whole(number) => units::bytes(&number.to_string()),
            Amount::Number(_) => Err("expected a whole number of bytes, or a text such as \"64M\"".to_owned()),
            Amount::Text(text) => units::bytes(&text),
        }
    }

    fn count<T: TryFrom<u64>>(self) -> Result<T, String> {
        match self {
            Amount::Whole(number) if number > 0 => T::try_from(number).map_err(|_| "too many".to_owned()),
            _ => Err("expected a number from 1 up".to_owned()),
        }
    }
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, hardened=false, **fields))]
    fn new(hardened: bool, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
        let mut limits = if hardened { isopod::Limits::hardened() } else { isopod::Limits::default() };
        for (name, value) in fields.into_iter().flatten() {
            let name: String = name.extract()?;
            let set = value.extract().map_err(|_| "expected a number or a text".to_owned());
            let set = set.and_then(|amount| set_field(&mut limits, &name, amount));
            set.map_err(|fault| error("RequestError", format!("limit {name}: {fault}")))?;
        }
        Ok(Limits(limits))
    }

    #[getter]
    fn wall(&self) -> f64 {
        self.0.wall.as_secs_f64()
    }

    #[getter]
    fn wall_max(&self) -> f64 {
        self.0.wall_max.as_secs_f64()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

fn set_field(limits: &mut isopod::Limits, name: &str, amount: Amount) -> Result<(), String> {
    match name {
        "wall" => limits.wall = amount.time()?,
        "wall_max" => limits.wall_max = amount.time()?,
        "fuel" => limits.fuel = Some(amount.count()?),
        "process_memory" => limits.process_memory = amount.bytes()?,
        "sandbox_memory" => limits.sandbox_memory = amount.bytes()?,
        "processes" => limits.processes = amount.count()?,
        "open_files" => limits.open_files = amount.count()?,
        "output" => limits.output = amount.bytes()?,
        "command" => limits.command = amount.bytes()?,
        "arguments" => limits.arguments = amount.bytes()?,
        "disk" => limits.disk = amount.bytes()?,
        "file" => limits.file = amount.bytes()?,
        "inodes" => limits.inodes = amount.count()?,
        _ => return Err("there is no such limit".to_owned()),
    }
    Ok(())
}
