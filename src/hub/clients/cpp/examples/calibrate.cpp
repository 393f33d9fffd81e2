// Searches for the setting at which a phase-locked loop locks: 1,000 steps executed next to the
// hardware, in one round trip:
//
//     calibrate localhost:1390 zc706
//
// The registers are `scratch`, which every gateware provides for experiments: they keep what is
// written, as if the loop locked with every setting. Replace them by those of your own block.
//
// The token is taken from KAIROS_HUB_TOKEN, the certificate of a hub with TLS from
// KAIROS_HUB_CERTIFICATE.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "kairos/hub.hpp"

namespace {

using kairos::step::Step;

constexpr std::uint32_t kSettings = 250;
constexpr const char* kControl = "scratch/word";
constexpr const char* kStatus = kControl;
constexpr const char* kFrequency = "scratch/wide";
// Starts the loop; the lower bits contain the setting.
constexpr std::uint32_t kStart = 1u << 31;
// Status of a locked loop; the lower bits contain the setting.
constexpr std::uint32_t kLocked = kStart;
// 10 MHz from 125 MHz, in units of 2^-64.
constexpr std::uint64_t kTuning = 0x147ae147ae147ae1;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Runs a program; returns its results.
std::vector<std::uint32_t> run(kairos::Lab& lab, const std::string& device, const std::vector<Step>& steps) {
  kairos::hub::v1::RunRequest program;
  program.set_device(device);
  *program.mutable_steps() = {steps.begin(), steps.end()};
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  kairos::hub::v1::RunResponse answer;
  const grpc::Status status = lab.registers->Run(&context, program, &answer);
  if (!status.ok()) {
    throw std::runtime_error(status.error_message());
  }
  if (!answer.done()) {
    throw std::runtime_error(answer.error());
  }
  return {answer.results().begin(), answer.results().end()};
}

struct Found {
  std::uint32_t count = 0;
  std::uint32_t setting = 0;
};

// The number of settings that lock, and the middle of the longest run of them. Each status is
// preceded by the value read by the poll.
Found middle(const std::vector<std::uint32_t>& results) {
  Found found;
  std::uint32_t begin = 0, longest = 0;
  for (std::uint32_t setting = 0; setting < results.size() / 2; ++setting) {
    if (results[2 * setting + 1] != (kLocked | setting)) {
      begin = setting + 1;
      continue;
    }
    ++found.count;
    const std::uint32_t length = setting + 1 - begin;
    if (length > longest) {
      longest = length;
      found.setting = begin + length / 2;
    }
  }
  return found;
}

void calibrate(const std::string& address, const std::string& device) {
  using Clock = std::chrono::steady_clock;
  namespace step = kairos::step;
  kairos::Lab lab(address, {environment("KAIROS_HUB_TOKEN"), environment("KAIROS_HUB_CERTIFICATE")});
  const std::vector<Step> attempt = {
      step::write(kControl, 0, 1),
      step::modify(kControl, kStart, kStart),
      step::poll(kControl, kStart, kStart, std::chrono::milliseconds(1)),
      step::read(kStatus),
  };
  const auto started = Clock::now();
  const Found found = middle(run(lab, device, {step::loop(kSettings, attempt)}));
  const std::chrono::duration<double, std::micro> took = Clock::now() - started;

  const std::vector<Step> chosen = {
      step::write(kControl, kStart | found.setting),
      step::write(kFrequency, kTuning),
      step::read(kStatus),
      step::read(kFrequency),
  };
  const std::vector<std::uint32_t> expected = {kLocked | found.setting, std::uint32_t(kTuning >> 32),
                                               std::uint32_t(kTuning)};
  if (run(lab, device, chosen) != expected) {
    throw std::runtime_error("it does not lock with setting " + std::to_string(found.setting));
  }
  std::printf("%u of %u settings lock; %u, in their middle, is set\n", found.count, kSettings, found.setting);
  const std::size_t steps = kSettings * attempt.size();
  std::printf("%zu steps as one batch: %.1f us each\n", steps, took.count() / steps);
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
