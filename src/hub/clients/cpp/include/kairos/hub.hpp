// A client of a Kairos hub: the registers of a laboratory's core devices, over gRPC.
//
//     kairos::Lab lab("localhost:1390");
//     grpc::ClientContext context;
//     lab.registers->Read(&context, request, &response);
//
// docs/hub-api.md describes the services; kairos/hub/v1/hub.pb.h is generated from the same
// protocol.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "kairos/hub/v1/buses.grpc.pb.h"
#include "kairos/hub/v1/clocks.grpc.pb.h"
#include "kairos/hub/v1/hub.grpc.pb.h"
#include "kairos/hub/v1/waveforms.grpc.pb.h"

namespace kairos {

// Credentials of the client, and TLS.
struct Options {
  // Token of this client, if the hub requires one. Empty: none.
  std::string token;
  // PEM file with the certificate of a hub that uses TLS, or of its certificate authority. Empty:
  // no TLS.
  std::string certificate;
};

// Sends the token with every call.
class TokenInterceptor final : public grpc::experimental::Interceptor {
 public:
  explicit TokenInterceptor(std::string token) : value_("Bearer " + std::move(token)) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(grpc::experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->insert({"authorization", value_});
    }
    methods->Proceed();
  }

 private:
  std::string value_;
};

class TokenInterceptors final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit TokenInterceptors(std::string token) : token_(std::move(token)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(grpc::experimental::ClientRpcInfo*) override {
    return new TokenInterceptor(token_);
  }

 private:
  std::string token_;
};

// A connection to the hub at a host and port, or at the Unix socket given to plugins in KAIROS_HUB,
// and its services. Connection errors are reported by the first call.
class Lab {
 public:
  // Throws std::runtime_error if the certificate cannot be read.
  explicit Lab(const std::string& address, const Options& options = {})
      : channel_(connect(address, options)),
        devices(hub::v1::Devices::NewStub(channel_)),
        registers(hub::v1::Registers::NewStub(channel_)),
        channels(hub::v1::Channels::NewStub(channel_)),
        monitor(hub::v1::Monitor::NewStub(channel_)),
        plugins(hub::v1::Plugins::NewStub(channel_)),
        buses(hub::v1::Buses::NewStub(channel_)),
        clocks(hub::v1::Clocks::NewStub(channel_)),
        waveforms(hub::v1::Waveforms::NewStub(channel_)),
        memory(hub::v1::Memory::NewStub(channel_)) {}

 private:
  static std::shared_ptr<grpc::Channel> connect(const std::string& address, const Options& options) {
    auto credentials = grpc::InsecureChannelCredentials();
    if (!options.certificate.empty()) {
      grpc::SslCredentialsOptions tls;
      tls.pem_root_certs = content(options.certificate);
      credentials = grpc::SslCredentials(tls);
    }
    std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> interceptors;
    if (!options.token.empty()) {
      interceptors.push_back(std::make_unique<TokenInterceptors>(options.token));
    }
    grpc::ChannelArguments arguments;
    if (address.rfind("unix:", 0) == 0) {
      // The path of a socket is not a valid host name, but would be used as one.
      arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
    }
    return grpc::experimental::CreateCustomChannelWithInterceptors(address, credentials, arguments,
                                                                   std::move(interceptors));
  }

  static std::string content(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    if (!(text << file.rdbuf())) {
      throw std::runtime_error(path + " cannot be read");
    }
    return text.str();
  }

  std::shared_ptr<grpc::Channel> channel_;

 public:
  const std::unique_ptr<hub::v1::Devices::Stub> devices;
  const std::unique_ptr<hub::v1::Registers::Stub> registers;
  const std::unique_ptr<hub::v1::Channels::Stub> channels;
  const std::unique_ptr<hub::v1::Monitor::Stub> monitor;
  const std::unique_ptr<hub::v1::Plugins::Stub> plugins;
  const std::unique_ptr<hub::v1::Buses::Stub> buses;
  const std::unique_ptr<hub::v1::Clocks::Stub> clocks;
  const std::unique_ptr<hub::v1::Waveforms::Stub> waveforms;
  const std::unique_ptr<hub::v1::Memory::Stub> memory;
};

// Steps of a program that a device executes as one batch (docs/batch.md). Registers are named
// block/register.
namespace step {

using hub::v1::Step;

inline std::uint32_t microseconds(std::chrono::microseconds length) {
  return static_cast<std::uint32_t>(length.count());
}

// Reads a register. The value is a result; two for a register of more than 32 bits, the high word
// first.
inline Step read(const std::string& name) {
  Step step;
  step.mutable_read()->set_register_(name);
  return step;
}

// Writes a register; in a loop, the value increases by `more` each round, if the register has at
// most 32 bits.
inline Step write(const std::string& name, std::uint64_t value, std::uint32_t more = 0) {
  Step step;
  step.mutable_write()->set_register_(name);
  step.mutable_write()->set_value(value);
  step.mutable_write()->set_step(more);
  return step;
}

// Sets the bits of a register selected by the mask.
inline Step modify(const std::string& name, std::uint32_t value, std::uint32_t mask) {
  Step step;
  step.mutable_modify()->set_register_(name);
  step.mutable_modify()->set_value(value);
  step.mutable_modify()->set_mask(mask);
  return step;
}

// Waits until the bits selected by the mask equal those of the value. The last value read is a
// result.
inline Step poll(const std::string& name, std::uint32_t value, std::uint32_t mask, std::chrono::microseconds timeout) {
  Step step;
  step.mutable_poll()->set_register_(name);
  step.mutable_poll()->set_value(value);
  step.mutable_poll()->set_mask(mask);
  step.mutable_poll()->set_timeout_us(microseconds(timeout));
  return step;
}

// Waits.
inline Step delay(std::chrono::microseconds length) {
  Step step;
  step.mutable_delay()->set_us(microseconds(length));
  return step;
}

// Repeats steps.
inline Step loop(std::uint32_t rounds, const std::vector<Step>& steps) {
  Step step;
  step.mutable_loop()->set_rounds(rounds);
  *step.mutable_loop()->mutable_steps() = {steps.begin(), steps.end()};
  return step;
}

}  // namespace step
}  // namespace kairos
