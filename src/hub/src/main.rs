//! `kairos-hub`: one gRPC server for the core devices of a laboratory. `proto/` defines its
//! services, `docs/hub.md` describes its use. The hub with traces is `src/hub/traces`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kairos_hub::command::main(|_| {
        Err("this hub is built without traces: build the one with them with 'make hub-traces'".into())
    })
}
