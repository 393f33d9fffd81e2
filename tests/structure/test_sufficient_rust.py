"""As `test_sufficient.py`, for changes that the Rust compiler checks, which takes minutes."""

import pytest

from tests.structure.copies import add_driver, only_named, rows


@pytest.mark.long
def test_configuration_key_needs_only_named_files(tree):
    tree.append(
        "src/contracts/configuration.toml",
        "netboot_wait = ",
        'greeting = { kind = "number", effect = "at boot", doc = "number of greetings" }',
    )
    tree.change(
        "src/firmware/config/src/keys.rs",
        "pub const NETBOOT_WAIT",
        "pub const GREETING: Setting<u32> = Setting::new(Key::Greeting, settings::number);\npub const NETBOOT_WAIT",
    )
    tree.change("src/firmware/config/src/keys.rs", "NETBOOT_WAIT.key,", "NETBOOT_WAIT.key,\n            GREETING.key,")
    tree.python("src/contracts/generate.py")
    tree.cargo("test", "--release", "-p", "kairos-config", "keys")
    tree.test("tests/host/test_contracts.py")
    only_named(tree, "a configuration key", "greeting")


@pytest.mark.long
def test_peripheral_needs_only_named_files(tree):
    tree.add(
        "src/emulator/src/peripherals/echo.rs",
        "//! A made-up register file.\n\nuse super::storage::Storage;\n\n/// As memory.\npub type Echo = Storage;\n",
    )
    tree.change("src/emulator/src/peripherals/mod.rs", "mod gem;", "mod echo;\nmod gem;")
    tree.change(
        "src/emulator/src/peripherals/mod.rs",
        '    row("QSPI"',
        '    row("Echo", &[at(0xf800_8000, 0x1000)], NONE, |_| Box::<echo::Echo>::default()),\n    row("QSPI"',
    )
    row = "| Echo | 0xf8008000–0xf8008fff | | a register file | none |"
    tree.append("docs/emulator.md", "| XADC |", row)
    tree.cargo("test", "--release", "-p", "kairos-emulator", "--test", "page")
    only_named(tree, "a peripheral of the emulated chip", "echo")


GREETINGS = """// Greetings.
syntax = "proto3";

package kairos.hub.v1;

import "kairos/hub/v1/hub.proto";

// Greetings of the hub.
service Greetings {
  // Returns a greeting.
  rpc Greet(GreetRequest) returns (GreetResponse) {
    option (role) = ROLE_LOOK;
  }
}

// Request of Greetings.Greet.
message GreetRequest {}

// Response of Greetings.Greet.
message GreetResponse {
  // The greeting.
  string text = 1;
}
"""

GREETINGS_SERVICE = """//! A made-up service.

use tonic::{Request, Response, Status};

use crate::service::Service;
use crate::v1::greetings_server::Greetings;
use crate::v1::{GreetRequest, GreetResponse};

#[tonic::async_trait]
impl Greetings for Service {
    async fn greet(&self, _: Request<GreetRequest>) -> Result<Response<GreetResponse>, Status> {
        Ok(Response::new(GreetResponse { text: "hello".into() }))
    }
}
"""


@pytest.mark.long
def test_hub_method_needs_only_named_files(tree):
    protocol = "src/hub/proto/kairos/hub/v1/hub.proto"
    tree.change(
        protocol,
        "service Devices {\n",
        "service Devices {\n  // Counts all devices.\n"
        "  rpc Count(CountDevicesRequest) returns (CountDevicesResponse) {\n    option (role) = ROLE_LOOK;\n  }\n",
    )
    tree.change(
        protocol,
        "// The devices listed in hub.toml.\n",
        "// Request of Devices.Count.\nmessage CountDevicesRequest {}\n\n// Response of Devices.Count.\n"
        "message CountDevicesResponse {\n  // Number of devices.\n  uint32 count = 1;\n}\n\n"
        "// The devices listed in hub.toml.\n",
    )
    tree.change(
        "src/hub/src/service.rs",
        "impl Devices for Service {\n",
        "impl Devices for Service {\n"
        "    async fn count(\n        &self,\n        _: Request<v1::CountDevicesRequest>,\n"
        "    ) -> Result<Response<v1::CountDevicesResponse>, Status> {\n"
        "        let count = self.devices.len() as u32;\n"
        "        Ok(Response::new(v1::CountDevicesResponse { count }))\n    }\n\n",
    )
    tree.python("src/hub/protocol.py")
    tree.cargo("check", "--release", "-p", "kairos-hub")
    tree.test("tests/host/test_hub_protocol.py", "-k", "documented or recorded or page")
    only_named(tree, "a method or field of the hub", "count")


@pytest.mark.long
def test_hub_service_needs_only_named_files(tree):
    tree.add("src/hub/proto/kairos/hub/v1/greetings.proto", GREETINGS)
    tree.add("src/hub/src/greetings.rs", GREETINGS_SERVICE)
    tree.change("src/hub/src/lib.rs", "pub mod health;", "mod greetings;\npub mod health;")
    tree.change(
        "src/hub/src/server.rs",
        "        .add_service(ClocksServer::new(service.clone()))\n",
        "        .add_service(ClocksServer::new(service.clone()))\n"
        "        .add_service(crate::v1::greetings_server::GreetingsServer::new(service.clone()))\n",
    )
    tree.python("src/hub/protocol.py")
    tree.cargo("check", "--release", "-p", "kairos-hub")
    tree.test("tests/host/test_hub_protocol.py")
    only_named(tree, "a service of the hub", "greetings")


@pytest.mark.long
def test_management_request_needs_only_named_files(tree):
    tree.append(
        "src/contracts/management.toml",
        "failure_reason = ",
        'greet = { value = 137, doc = "Do nothing.", payload = "none", reply = "Success" }',
    )
    tree.change(
        "src/firmware/comms/src/management.rs",
        "            Kind::PullLog =>",
        "            Kind::Greet => self.send(&reply::SUCCESS).await,\n            Kind::PullLog =>",
    )
    tree.change(
        "src/kairos/network/management.py",
        "    def reboot(self):",
        '    def greet(self):\n        """Do nothing."""\n'
        '        self._perform("greet", Reply.SUCCESS, Request.GREET)\n\n    def reboot(self):',
    )
    tree.python("src/contracts/generate.py")
    tree.cargo_arm("check", "-p", "kairos-comms")
    tree.cargo("check", "--release", "-p", "kairos-native", "-p", "kairos-hub")
    tree.test("tests/host/test_contracts.py")
    only_named(tree, "a management request", "greet")


@pytest.mark.long
def test_kernel_symbol_needs_only_named_files(tree):
    tree.append(
        "src/contracts/kernel_symbols.toml",
        "at_mu = ",
        'half_mu = { firmware = "cursor::half_mu", arguments = [], returns = "i64", own = true, doc = "half of it" }',
    )
    tree.change(
        "src/kernel/src/rtio/cursor.rs",
        "/// `at_mu`\n",
        '/// `half_mu`\npub extern "C" fn half_mu() -> i64 {\n    RING.quick.now.get() / 2\n}\n\n/// `at_mu`\n',
    )
    tree.change(
        "tests/conformance/test_functions.py", '    | {"rtio_wait_until_mu",', '    | {"half_mu", "rtio_wait_until_mu",'
    )
    tree.python("src/contracts/generate.py")
    tree.cargo_arm("check", "-p", "kairos-kernel", "--features", "image")
    tree.test("tests/conformance/test_functions.py", "tests/host/test_contracts.py", "-k", "only_listed or up_to_date")
    # The row names the module by its folder.
    assert "src/kernel/src/calls` or `rtio`" in rows()["a kernel symbol"]
    tree.edited.remove("src/kernel/src/rtio/cursor.rs")
    only_named(tree, "a kernel symbol", "half_mu")


@pytest.mark.long
def test_statement_needs_only_named_files(tree):
    """`del`, which evaluates what it deletes."""
    statements = "src/compiler/src/syntax/statements.rs"
    tree.change(statements, "    Pass,\n}", "    Pass,\n    Delete(Vec<Expr>),\n}")
    tree.change(
        statements,
        "            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => {}\n",
        "            StmtKind::Delete(targets) => targets.iter().for_each(|target| visit(Part::Expr(target))),\n"
        "            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => {}\n",
    )
    tree.change(
        statements,
        "            StmtKind::Expr(value) => expr(value),\n",
        "            StmtKind::Expr(value) => expr(value),\n"
        "            StmtKind::Delete(targets) => targets.iter_mut().for_each(expr),\n",
    )
    tree.change(
        statements,
        "            | StmtKind::Pass => Flow::On,",
        "            | StmtKind::Delete(_)\n            | StmtKind::Pass => Flow::On,",
    )
    tree.change(
        statements,
        "            py::Stmt::Break(_) =>",
        "            py::Stmt::Delete(stmt) => StmtKind::Delete(self.exprs(&stmt.targets)?),\n"
        "            py::Stmt::Break(_) =>",
    )
    tree.change(
        "src/compiler/src/infer/stmt.rs",
        "            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => Ok(()),",
        "            StmtKind::Delete(targets) => targets.iter().try_for_each(|target| self.expr(target).map(drop)),\n"
        "            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => Ok(()),",
    )
    tree.change(
        "src/compiler/src/lower/stmt.rs",
        "            StmtKind::Pass => Ok(()),\n",
        "            StmtKind::Pass => Ok(()),\n"
        "            StmtKind::Delete(targets) => targets.iter().try_for_each(|target| self.expr(target).map(drop)),\n",
    )
    tree.cargo("check", "--release", "-p", "kairos-compiler")
    tree.test("tests/structure/test_changes.py", "-k", "statement_kinds")
    only_named(tree, "syntax that does not desugar to existing syntax", "delete")


MODEL = """//! A made-up attenuator: counts the messages that it receives.

use serde::Deserialize;
use serde_json::{json, Value};

use crate::assemble::outputs::OutputKinds;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::numbers::Positive;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::Ns;

const INPUTS: [&str; 3] = ["clk", "mosi", "cs0"];

struct Ad0000 {
    lines: [bool; INPUTS.len()],
    messages: u64,
    steps: f64,
}

impl Model for Ad0000 {
    fn input(&mut self, _at: Ns, changes: &[Change], _out: &mut Outbox) {
        let was_selected = !self.lines[2];
        set_levels(&mut self.lines, changes);
        self.messages += u64::from(was_selected && self.lines[2]);
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "messages": self.messages, "steps": self.steps })
    }
}

/// An AD0000 in a bench file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Steps per dB.
    steps: Option<Positive>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let model = Ad0000 {
            lines: [true; INPUTS.len()],
            messages: 0,
            steps: settings.get(|section| section.steps).map_or(2.0, |steps| steps.0),
        };
        Ok(CardModel::new(model, &INPUTS, OutputKinds::default()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::assemble::{assemble, Device};
    use crate::file::Source;
    use crate::pad::Pad;

    #[test]
    fn card_is_found_and_has_its_settings() {
        let lines = super::INPUTS.iter().enumerate();
        let pads: Vec<Pad> = lines
            .map(|(index, line)| Pad {
                index: index as u16,
                board: 0,
                channel: 1,
                name: format!("spi_ad00000_{line}"),
                drives: true,
                reads: false,
            })
            .collect();
        let (name, text) = ("bench.toml", "[ad0000.ad00000]\nsteps = 4");
        let device = Device {
            pads: &pads,
            outputs: &[],
            waveforms: &[],
            cards: &[],
            names: &BTreeMap::new(),
        };
        let assembly = assemble(Source { name, text }, &device, &[]).expect("it is right");
        assert_eq!(assembly.engine.report(0)["ad00000"]["steps"], 4.0);
    }
}
"""

CARD = """name = "AD0000"
doc = "A made-up attenuator alone on a bus."
model = true

[devices.AD0000]
module = "ad0000"
role = "card"
place = ["spi_device"]
lines = { spi = "spi_device" }
scope = "ad0000"
selects = { 1 = "" }

[[models]]
modelled = "the number of messages"
"""

USES = """
from kairos.emulator.cards import cards
from kairos.scope.serial import Labels, Message

def entry(driver, **arguments):
    return {"type": "local", "module": "x", "class": driver, "arguments": arguments}

database = {"spi": entry("SPIMaster", channel=3), "att": entry("AD0000", spi_device="spi")}
print(cards(database))
print(Labels(database).text("spi", Message(0, 8, 1, 8, 0x14, None)))
"""


@pytest.mark.long
def test_chip_model_needs_only_named_files(tree):
    add_driver(tree)
    tree.edited.clear()
    tree.add("src/contracts/cards/ad0000.toml", CARD)
    tree.add("src/bench/src/chips/ad0000.rs", MODEL)
    tree.change("src/bench/src/chips/mod.rs", "pub mod ad4115;", "pub mod ad0000;\npub mod ad4115;")
    tree.python("src/contracts/generate.py")
    tree.cargo("test", "--release", "-p", "kairos-bench", "ad0000")
    shown = tree.python("-c", USES)
    assert "'kind': 'ad0000', 'device': 'att', 'channels': {'spi': 3}" in shown and "SETTING: att 20" in shown
    tree.test("tests/structure/test_cards.py", "tests/host/test_contracts.py", "-k", "AD0000 or derived or up_to_date")
    assert len(tree.edited) == 3
    only_named(tree, "a chip model of the bench", "ad0000")
