// 1,000 register accesses beside the hardware, in one round trip:
//
//     calibrate localhost:1390 zc706
//
// A token is taken from KAIROS_HUB_TOKEN, the certificate of a hub with TLS from KAIROS_HUB_CERTIFICATE.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "kairos/hub.hpp"

namespace {

constexpr std::uint32_t kRounds = 250;
// What each round looks at: all are 0 where nothing is wrong and nothing under way.
const std::vector<std::string> kLooks = {"rtio/async_error", "initiator/lost", "initiator/busy", "dma/busy"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void calibrate(const std::string& address, const std::string& device) {
  using Clock = std::chrono::steady_clock;
  kairos::Lab lab(address, {environment("KAIROS_HUB_TOKEN"), environment("KAIROS_HUB_CERTIFICATE")});
  std::vector<kairos::step::Step> round;
  std::transform(kLooks.begin(), kLooks.end(), std::back_inserter(round), kairos::step::read);
  kairos::hub::v1::RunRequest program;
  program.set_device(device);
  *program.add_steps() = kairos::step::loop(kRounds, round);

  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  kairos::hub::v1::RunResponse answer;
  const auto started = Clock::now();
  const grpc::Status status = lab.registers->Run(&context, program, &answer);
  const std::chrono::duration<double, std::micro> took = Clock::now() - started;
  if (!status.ok()) {
    throw std::runtime_error(status.error_message());
  }
  if (!answer.done()) {
    throw std::runtime_error(answer.error());
  }

  const auto& values = answer.results();
  int at_rest = 0;
  for (auto at = values.begin(); at != values.end(); at += kLooks.size()) {
    at_rest += std::all_of(at, at + kLooks.size(), [](std::uint32_t value) { return value == 0; });
  }
  std::printf("%d of %u rounds found everything at rest\n", at_rest, kRounds);
  std::printf("%d accesses as one batch: %.1f us each\n", values.size(), took.count() / values.size());
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: calibrate HOST:PORT DEVICE\n");
    return 2;
  }
  try {
    calibrate(words[1], words[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate: %s\n", error.what());
    return 1;
  }
}
