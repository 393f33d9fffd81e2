//! Types and lowered functions as printed by `--emit`, and random input.

mod common;

use common::TestHost;
use insta::assert_snapshot;
use kairos_compiler::host::HostValue;
use kairos_compiler::llvm::Machine;

fn lowered(text: &str) -> String {
    let device = [("level", HostValue::Int(1)), ("channel", HostValue::Int(5))];
    let host = TestHost::new(text).object("device", &device, &["channel"]);
    let output = host.compile().unwrap_or_else(|error| panic!("{error}"));
    let functions = output
        .module
        .functions
        .iter()
        .filter(|function| function.symbol.starts_with("test."));
    functions.map(|function| format!("{function}\n")).collect()
}

#[test]
fn constants_fold_and_invariants_are_constants() {
    assert_snapshot!(lowered(
        "def f():\n    delay(2 * 1e-3)\n    device.level += 1\n    return device.channel << 8 | device.level\n"
    ));
}

/// Attributes that no function assigns to are constant without being declared invariant.
#[test]
fn unassigned_attributes_are_constants() {
    assert!(lowered("def f():\n    return device.level + 1\n").contains("return 2"));
}

/// Not inlined: long code, remote calls, recursion, `try`, the entry.
#[test]
fn only_small_functions_are_inlined() {
    let text = "def f():\n    waits(1)\n    wraps(2)\n    twice(3)\n    remote(4)\n    recursive(4)\n    guarded(5)\n    changes(6)\n\n\
                def waits(n):\n    delay_mu(n)\n\n\
                def wraps(n):\n    waits(n)\n    delay_mu(5)\n\n\
                def twice(n):\n    wraps(n)\n    wraps(n + 1)\n\n\
                def remote(n):\n    print(n)\n\n\
                def recursive(n):\n    if n > 0:\n        recursive(n - 1)\n\n\
                def guarded(n):\n    try:\n        changes(n)\n    finally:\n        delay_mu(1)\n\n\
                def changes(n):\n    return n + 1\n";
    let output = TestHost::new(text).compile().unwrap();
    let marked = output
        .module
        .functions
        .iter()
        .filter(|function| function.attributes.starts_with("alwaysinline"));
    let marked: Vec<&str> = marked.map(|function| &*function.symbol).collect();
    assert_eq!(
        marked,
        [
            "test.waits",
            "test.wraps",
            "test.changes",
            "cursor.now",
            "cursor.at",
            "cursor.delay",
            "cursor.short_delay"
        ]
    );
}

/// Long functions inline only calls in loops, very long ones none.
#[test]
fn long_functions_inline_fewer_calls() {
    let calls = |count: usize| {
        let once = "    delay_mu(1)\n".repeat(count);
        let text = format!("def f():\n{once}    for _ in range(3):\n        delay_mu(2)\n");
        let output = TestHost::new(&text).compile().unwrap();
        let machine = Machine {
            triple: "armv7-unknown-linux-gnueabihf".into(),
            data_layout: String::new(),
            variables: false,
        };
        let llvm = output.llvm(&machine);
        [1, 2].map(|time| {
            let call = format!("call void @cursor.short_delay(i32 {time})");
            let lines: Vec<_> = llvm.lines().filter(|line| line.contains(&call)).collect();
            let kept = lines.iter().filter(|line| line.contains("noinline")).count();
            (lines.len(), kept)
        })
    };
    assert_eq!(calls(100), [(100, 0), (1, 0)]);
    assert_eq!(calls(300), [(300, 300), (1, 0)]);
    assert_eq!(calls(700), [(700, 700), (1, 1)]);
}

/// Functions with loops, or called in loops, are optimised thoroughly; the others are not, if they
/// are large enough.
#[test]
fn hot_code_is_emitted_separately() {
    let straight = "    x = once(x)\n    delay_mu(int64(x))\n".repeat(40);
    let text = format!(
        "def f():\n    x = 1\n{straight}    counts(x)\n\n\
         def once(x):\n    y = x * 3\n    y ^= x\n    y *= 5\n    y ^= x\n    y *= 7\n    y ^= x\n    y *= 9\n    return y\n\n\
         def counts(n):\n    for i in range(n):\n        body(i)\n\n\
         def body(n):\n    print(n)\n    delay_mu(1)\n"
    );
    let machine = Machine {
        triple: "armv7-unknown-linux-gnueabihf".into(),
        data_layout: String::new(),
        variables: false,
    };
    let parts = TestHost::new(&text).compile().unwrap().parts(&machine);
    let defined = |part: &str| {
        let heads = part.lines().filter(|line| line.starts_with("define"));
        let names = heads.filter_map(|line| Some(line.split('@').nth(1)?.split('(').next()?.to_string()));
        names.filter(|name| name.starts_with("test.")).collect::<Vec<_>>()
    };
    let [(often, true, ..), (seldom, false, ..)] = &parts[..] else {
        panic!("two parts, not {}", parts.len())
    };
    // A function called forty times counts as running often.
    assert_eq!(defined(often), ["test.once", "test.counts", "test.body"]);
    assert_eq!(defined(seldom), ["test.f"]);
    assert!(seldom.contains("declare hidden i32 @test.once(i32)"), "{seldom}");
}

/// Addresses and floats that a long function uses repeatedly are loaded once.
#[test]
fn constants_used_often_are_fetched_once() {
    let text = "def f():\n    x = float(g())\n".to_string()
        + &"    x = x * 1.1 + g()\n    device.level += 1\n".repeat(40)
        + "    return x\n\ndef g():\n    return device.level\n";
    let host = TestHost::new(&text).object("device", &[("level", HostValue::Int(1))], &[]);
    let output = host.compile().unwrap();
    let ir = output.module.to_string();
    let run = &ir[ir.find("function test.f").unwrap()..];
    let run = &run[..run.find("\n\n").unwrap()];
    assert_eq!(
        run.matches("@object.100").count() + run.matches("1.1").count(),
        0,
        "{run}"
    );
    assert_eq!(run.matches("@test.f.constant.").count(), 2, "{run}");
}

#[test]
fn parallel_block_ends_with_its_longest_statement() {
    assert_snapshot!(lowered(
        "def f():\n    with parallel:\n        delay_mu(5)\n        delay_mu(9)\n"
    ));
}

#[test]
fn loop_over_a_list_is_lowered_with_a_bounds_check() {
    assert_snapshot!(lowered("def f():\n    l = [1, 2]\n    for i in l:\n        l[i] = 0\n"));
}

#[test]
fn try_except_finally_is_lowered_to_landing_pads() {
    let text = "def f():\n    try:\n        g()\n    except ValueError:\n        print('caught')\n    finally:\n        delay_mu(1)\n\n\
                def g():\n    raise ValueError('no {0}', 7)\n";
    assert_snapshot!(lowered(text));
}

#[test]
fn types_of_a_program_are_inferred() {
    let text = "def f():\n    n = 0\n    x = g(now_mu(), n)\n    l = [True]\n    return (x, n / 2, l[0])\n\ndef g(t, n):\n    return t + n\n";
    assert_snapshot!(TestHost::new(text).compile().map(|output| output.types()).unwrap());
}

#[test]
fn assembly_of_a_small_kernel_is_unchanged() {
    let output = TestHost::new("def f():\n    delay_mu(3)\n").compile().unwrap();
    let machine = Machine {
        triple: "armv7-unknown-linux-gnueabihf".into(),
        data_layout: String::new(),
        variables: false,
    };
    assert_snapshot!(output.llvm(&machine));
}

/// Programs of random tokens are compiled or rejected without a panic.
#[test]
fn random_programs_cause_no_panic() {
    let tokens = [
        "x",
        "y",
        "1",
        "2.5",
        "'s'",
        "[1, 2]",
        "(1, True)",
        "device",
        "device.level",
        "range(3)",
        "g",
        "None",
        "now_mu()",
        " + ",
        " // ",
        " << ",
        " < ",
        " in ",
        " and ",
        "not ",
        "-",
        "[",
        "]",
        "(",
        ")",
        ", ",
        " if ",
        " else ",
        ".",
        "len(",
    ];
    let heads = [
        "x = ",
        "return ",
        "y = x = ",
        "x += ",
        "delay_mu(",
        "for x in ",
        "if ",
        "while ",
        "raise ",
        "print(",
    ];
    let mut state = 12345u64;
    let mut random = |limit: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    let mut compiled = 0;
    for _ in 0..4000 {
        let mut text = String::from("def f():\n    x = 1\n    y = 2.0\n");
        for _ in 0..1 + random(3) {
            let head = heads[random(heads.len())];
            let body: String = (0..1 + random(5)).map(|_| tokens[random(tokens.len())]).collect();
            let end = match head {
                "delay_mu(" | "print(" => ")",
                "for x in " | "if " | "while " => ":\n        y = y",
                _ => "",
            };
            text += &format!("    {head}{body}{end}\n");
        }
        text += "\ndef g(a):\n    return a\n";
        let host = TestHost::new(&text).object("device", &[("level", HostValue::Int(1))], &[]);
        compiled += usize::from(host.compile().is_ok());
    }
    assert!(compiled > 50, "only {compiled} random programs were valid");
}

/// Pieces of text with the formats of the kernel ABI; `print` behaves the same without a host.
#[test]
fn core_log_formats_values() {
    let body = "(None, True, 1, int64(2), 0.5, \"a%\", (3, \"b\"), (4,), range(5))\n    {}([6, 7], 8)\n";
    let text = |name: &str| format!("def f():\n    {name}{}", body.replace("{}", name));
    let log = TestHost::new(&text("core_log"))
        .compile()
        .unwrap_or_else(|error| panic!("{error}"));
    let print = TestHost::new(&text("print"))
        .standalone()
        .compile()
        .unwrap_or_else(|error| panic!("{error}"));
    let machine = Machine {
        triple: "armv7-unknown-linux-gnueabihf".into(),
        data_layout: String::new(),
        variables: false,
    };
    let assembly = log.llvm(&machine);
    assert_eq!(log.module.to_string(), print.module.to_string());
    assert!(
        assembly.contains("declare void @core_log(ptr, ...) nounwind"),
        "{assembly}"
    );
    assert!(
        assembly.contains("call void (ptr, ...) @core_log(ptr @str."),
        "{assembly}"
    );
    for format in [
        r#"c"None %.*s %d %lld %g %.*s (%d, \22%.*s\22) (%d,) range(%d, %d, %d)\0A\00""#,
        r#"c"[\00""#,
        r#"c"%.*s\00""#,
        r#"c"%d\00""#,
        r#"c"] %d\0A\00""#,
    ] {
        assert!(assembly.contains(format), "{format}: {assembly}");
    }
    assert!(!assembly.contains("rpc_send"), "{assembly}");
}
