//! [`ScenarioError`], which Python sees.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;

create_exception!(weft, OtherVersionError, PyValueError, "A plugin that was built with another version.");
create_exception!(weft, ScenarioError, PyValueError, "A scenario or fabric file that cannot be used.");
