{
  description = "Kairos: an open real-time control system for trapped-ion experiments";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
    rust-overlay = {
      url = "github:oxalica/rust-overlay";
      inputs.nixpkgs.follows = "nixpkgs";
    };
  };

  outputs = { self, nixpkgs, rust-overlay }:
    let
      system = "x86_64-linux";
      pkgs = import nixpkgs {
        inherit system;
        overlays = [ (import rust-overlay) ];
      };
      inherit (pkgs) lib;

      version = (lib.importTOML ./Cargo.toml).workspace.package.version;

      # One compiler for host and firmware: it has the core library of the Cortex-A9 cores.
      rust = pkgs.rust-bin.stable.latest.default.override {
        extensions = [ "rust-src" "clippy" "rustfmt" ];
        targets = [ "armv7a-none-eabihf" ];
      };
      rustPlatform = pkgs.makeRustPlatform {
        cargo = rust;
        rustc = rust;
      };

      python = pkgs.python3;
      # Not in nixpkgs; version and hash as in requirements.lock.
      litex = python.pkgs.buildPythonPackage rec {
        pname = "litex";
        version = "2024.12";
        pyproject = true;
        build-system = [ python.pkgs.setuptools ];
        src = pkgs.fetchPypi {
          inherit pname version;
          hash = "sha256-5ezNPaLrEwkdkStCANG1CFV22h5+cMS7RKZ3x5Og+xo=";
        };
        dependencies = with python.pkgs; [ migen packaging pyserial requests ];
        doCheck = false;
      };
      gatewarePython = python.withPackages (ps: [ ps.migen ps.jsonschema litex ]);

      source = lib.cleanSourceWith {
        src = ./.;
        filter = path: type: !(lib.hasSuffix "/build" path) && lib.cleanSourceFilter path type;
      };

      # What Hydra offers to download: each of these files of `out`.
      products = files: ''
        mkdir -p $out/nix-support
        for file in ${toString files}; do
          echo "file binary-dist $out/$file" >> $out/nix-support/hydra-build-products
        done
      '';

      # Of every board, since a firmware finds out where it runs: runtime.elf and satman.elf (with the kernel core's image
      # inside), that image alone, and the loader.
      firmware = rustPlatform.buildRustPackage {
        pname = "kairos-firmware";
        inherit version;
        src = source;
        cargoLock.lockFile = ./Cargo.lock;
        nativeBuildInputs = [ pkgs.lld pkgs.gcc-arm-embedded ];
        buildPhase = "scripts/build-firmware";
        installPhase = ''
          mkdir -p $out
          cp build/firmware/*.elf build/firmware/*.bin $out/
        '' + products [ "runtime.elf" "satman.elf" "kernel.elf" "boot.elf" ];
        doCheck = false;
      };

      # The gateware of one variant: a library for the emulator (board "sim"), or Verilog, constraints and the script with
      # which Vivado, which is not free, makes the bitstream.
      gateware = { variant ? "demo", board ? "sim" }: pkgs.stdenv.mkDerivation {
        pname = "kairos-gateware-${variant}-${board}";
        inherit version;
        src = ./src/gateware;
        nativeBuildInputs = [ gatewarePython pkgs.verilator ];
        buildPhase = ''
          python -m kairos_gateware.build --variant ${variant} --board ${board} --output $out
        '';
        installPhase = products (if board == "sim" then [ "libkairos_pl.so" ] else
          map (suffix: "kairos_${board}.${suffix}") [ "v" "xdc" "tcl" ]);
      };

      # Every board, and the variant that it is built with.
      boards = {
        ebaz4205 = "demo";
        kasli_soc = "lab";
        redpitaya = "demo";
        zc706 = "demo";
      };
      ofBoards = prefix: make: lib.mapAttrs' (board: variant: lib.nameValuePair "${prefix}-${board}" (make board variant)) boards;
      gatewares = ofBoards "gateware" (board: variant: gateware { inherit variant board; })
        // lib.listToAttrs (map (variant: lib.nameValuePair "gateware-${variant}" (gateware { inherit variant; })) [ "demo" "ion" "lab" ]);

      # BOOT.BIN of a board, with loader and firmware. The bitstream is to be added where Vivado is:
      # `kairos image --board NAME --gateware FILE.bit`. Whoever loads it has compared what the loader assumes of the board
      # with its schematic (docs/boot.md).
      bootImage = board: variant: pkgs.runCommand "kairos-boot-image-${board}" { nativeBuildInputs = [ host ]; } (''
        mkdir -p $out
        kairos image --board ${board} --unconfirmed --output $out/BOOT.BIN
      '' + products [ "BOOT.BIN" ]);
      bootImages = ofBoards "boot-image" bootImage;

      # A new experiment and the first example on the emulated device: compiler, firmware, gateware and emulator at work.
      emulated = pkgs.runCommand "kairos-emulated-run" { nativeBuildInputs = [ host ]; } (''
        export HOME=$TMPDIR
        mkdir -p $out
        cd $TMPDIR
        kairos new first
        kairos run first.py | tee $out/first.txt
        grep -q "sent 3 pulses" $out/first.txt
        kairos run ${source}/examples/blink.py --device-db ${source}/examples/device_db.py --vcd $out/blink.vcd \
          | tee $out/blink.txt
        test -s $out/blink.vcd
      '' + products [ "blink.vcd" ]);

      emulator = rustPlatform.buildRustPackage {
        pname = "kairos-emulator";
        inherit version;
        src = source;
        cargoLock.lockFile = ./Cargo.lock;
        buildAndTestSubdir = "src/emulator";
        nativeBuildInputs = [ pkgs.cmake pkgs.pkg-config rustPlatform.bindgenHook ];
        dontUseCmakeConfigure = true;
        doCheck = false;
        meta.license = lib.licenses.gpl2Only; # links Unicorn
      };

      # The `kairos` command with the compiler. The emulated device's parts are found through KAIROS_BUILD.
      host = python.pkgs.buildPythonApplication {
        pname = "kairos";
        inherit version;
        pyproject = true;
        src = source;
        cargoDeps = rustPlatform.importCargoLock { lockFile = ./Cargo.lock; };
        nativeBuildInputs = [ rustPlatform.cargoSetupHook rustPlatform.maturinBuildHook pkgs.makeWrapper rust ];
        dependencies = with python.pkgs; [ numpy llvmlite pyvcd matplotlib h5py lmdb shtab tqdm ];
        postFixup = ''
          wrapProgram $out/bin/kairos --prefix PATH : ${lib.makeBinPath [ pkgs.lld pkgs.gcc-arm-embedded ]} \
            --set-default KAIROS_BUILD ${device}
        '';
        doCheck = false;
        meta.license = [ lib.licenses.mit lib.licenses.asl20 ];
      };

      # What the host looks for in build/.
      device = pkgs.linkFarm "kairos-emulated-device" [
        { name = "firmware"; path = firmware; }
        { name = "gateware/demo"; path = gatewares.gateware-demo; }
        { name = "gateware/ion"; path = gatewares.gateware-ion; }
        { name = "gateware/lab"; path = gatewares.gateware-lab; }
        { name = "emulator/kairos-emulator"; path = "${emulator}/bin/kairos-emulator"; }
      ];
    in
    {
      packages.${system} = {
        inherit firmware emulator host device;
        default = host;
      } // gatewares // bootImages;

      checks.${system} = { inherit emulated; };

      devShells.${system}.default = pkgs.mkShell {
        packages = [
          rust
          gatewarePython
          pkgs.verilator
          pkgs.lld
          pkgs.clang
          pkgs.cmake
          pkgs.pkg-config
          pkgs.gcc-arm-embedded
          pkgs.qemu
          pkgs.ruff
        ];
        LIBCLANG_PATH = "${pkgs.llvmPackages.libclang.lib}/lib";
      };

      hydraJobs = {
        inherit firmware emulator host emulated;
      } // gatewares // bootImages;

      formatter.${system} = pkgs.nixpkgs-fmt;
    };
}
