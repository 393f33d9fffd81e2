# Evaluates flake.nix against stand-ins for its inputs, so that the expression is checked where nothing can be fetched:
# `nix-instantiate --eval --strict --json tests/nix/stub.nix`. The result maps each output to the name of what it builds.
#
# A stand-in package is a string-like attribute set with any further attribute the flake asks of it.
let
  package = name: {
    inherit name;
    type = "derivation";
    outPath = "/nix/store/00000000000000000000000000000000-${name}";
    lib = package "${name}-lib";
  };
  # What the build does is text, so it is evaluated here.
  build = arguments: assert builtins.isString (arguments.buildPhase or "" + arguments.installPhase or ""); package (arguments.pname or arguments.name or "shell");
  names = [ "lld" "clang" "cmake" "pkg-config" "gcc-arm-embedded" "qemu" "ruff" "verilator" "makeWrapper" "nixpkgs-fmt" ];
  pythonPackages = builtins.listToAttrs (map (name: { inherit name; value = package name; }) [
    "setuptools" "migen" "jsonschema" "packaging" "pyserial" "requests" "numpy" "llvmlite" "pyvcd" "matplotlib" "h5py" "lmdb"
    "shtab" "tqdm"
  ]) // { buildPythonPackage = f: build (if builtins.isFunction f then f { } else f); buildPythonApplication = build; };
  stubs = builtins.listToAttrs (map (name: { inherit name; value = package name; }) names) // {
    lib = {
      importTOML = path: builtins.fromTOML (builtins.readFile path);
      # Without what was built, which may contain sockets.
      cleanSourceWith = { src, filter }: builtins.path { name = "source"; path = src; inherit filter; };
      cleanSourceFilter = path: type: true;
      hasSuffix = suffix: text:
        let from = builtins.stringLength text - builtins.stringLength suffix; in
        from >= 0 && builtins.substring from (-1) text == suffix;
      inherit (builtins) listToAttrs;
      nameValuePair = name: value: { inherit name value; };
      mapAttrs' = f: set: builtins.listToAttrs (map (name: f name set.${name}) (builtins.attrNames set));
      makeBinPath = paths: builtins.concatStringsSep ":" (map (p: "${p.outPath}/bin") paths);
      licenses = { mit = "MIT"; asl20 = "Apache-2.0"; gpl2Only = "GPL-2.0-only"; };
    };
    rust-bin.stable.latest.default.override = arguments:
      assert builtins.elem "armv7a-none-eabihf" arguments.targets; package "rust";
    makeRustPlatform = { cargo, rustc }: {
      buildRustPackage = arguments: assert builtins.pathExists arguments.cargoLock.lockFile; build arguments;
      importCargoLock = { lockFile }: assert builtins.pathExists lockFile; package "cargo-deps";
      bindgenHook = package "bindgen-hook";
      cargoSetupHook = package "cargo-setup-hook";
      maturinBuildHook = package "maturin-build-hook";
    };
    python3 = { pkgs = pythonPackages; withPackages = select: assert builtins.isList (select pythonPackages); package "python3-env"; };
    stdenv.mkDerivation = build;
    mkShell = build;
    runCommand = name: arguments: script:
      assert builtins.isList arguments.nativeBuildInputs && builtins.match ".*mkdir -p \\$out.*" script != null; package name;
    linkFarm = name: entries: assert builtins.all (e: e ? name && e ? path) entries; package name;
    fetchPypi = { pname, version, hash }: assert builtins.match "sha256-[A-Za-z0-9+/]{43}=" hash != null; package "${pname}-source";
    llvmPackages.libclang = package "libclang";
  };
  # Inputs are imported as paths; `import` of these two, which do not exist, is answered with the stand-ins.
  inputs = { self = { }; nixpkgs = ./nixpkgs; rust-overlay = ./rust-overlay; };
  standIn = path:
    if path == inputs.nixpkgs then (arguments: stubs)
    else if path == inputs.rust-overlay then (final: previous: { })
    else import path;
  flake = builtins.scopedImport { import = standIn; } ../../flake.nix;
  evaluated = flake.outputs inputs;
  nameAll = builtins.mapAttrs (_: value: value.name);
in
assert builtins.attrNames flake.inputs == [ "nixpkgs" "rust-overlay" ];
{
  packages = nameAll evaluated.packages.x86_64-linux;
  devShells = nameAll evaluated.devShells.x86_64-linux;
  hydraJobs = nameAll evaluated.hydraJobs;
  checks = nameAll evaluated.checks.x86_64-linux;
}
