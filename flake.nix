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
      gatewarePython = python.withPackages (ps: [ ps.migen litex ]);

      source = lib.cleanSourceWith {
        src = ./.;
        filter = path: type: !(lib.hasSuffix "/build" path) && lib.cleanSourceFilter path type;
      };

      # Both cores' images: runtime.elf (with the kernel core's image inside), kernel.elf, kernel.bin.
      firmware = rustPlatform.buildRustPackage {
        pname = "kairos-firmware";
        inherit version;
        src = source;
        cargoLock.lockFile = ./Cargo.lock;
        nativeBuildInputs = [ pkgs.lld pkgs.gcc-arm-embedded ];
        buildPhase = "scripts/build-firmware";
        installPhase = ''
          mkdir -p $out
          cp build/firmware/runtime.elf build/firmware/kernel.elf build/firmware/kernel.bin $out/
          mkdir -p $out/nix-support
          for image in runtime.elf kernel.elf; do
            echo "file binary-dist $out/$image" >> $out/nix-support/hydra-build-products
          done
        '';
        doCheck = false;
      };

      # The gateware of one variant: for the emulator (board "sim") or for a board's synthesis.
      gateware = { variant ? "demo", board ? "sim" }: pkgs.stdenv.mkDerivation {
        pname = "kairos-gateware-${variant}-${board}";
        inherit version;
        src = ./src/gateware;
        nativeBuildInputs = [ gatewarePython pkgs.verilator ];
        buildPhase = ''
          python -m kairos_gateware.build --variant ${variant} --board ${board} --output $out
        '';
        dontInstall = true;
      };

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
        dependencies = with python.pkgs; [ numpy llvmlite pyelftools pyvcd matplotlib h5py lmdb rich shtab ];
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
        { name = "gateware/demo"; path = gateware { }; }
        { name = "emulator/kairos-emulator"; path = "${emulator}/bin/kairos-emulator"; }
      ];
    in
    {
      packages.${system} = {
        inherit firmware emulator host device;
        gateware-demo = gateware { };
        gateware-zc706 = gateware { board = "zc706"; };
        default = host;
      };

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
        inherit firmware emulator host;
        gateware-demo = gateware { };
        gateware-zc706 = gateware { board = "zc706"; };
      };

      formatter.${system} = pkgs.nixpkgs-fmt;
    };
}
