#include "backbone/step_benchmark.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "backbone/architecture.h"
#include "backbone/chunked_backbone.h"
#include "base/random.h"
#include "base/repeated_work.h"
#include "base/stopwatch.h"
#include "base/thread_pool.h"
#include "dfrost/error.h"
#include "kernels/bf16_ops.h"
#include "kernels/fp32_ops.h"
#include "kernels/peak.h"

namespace dfrost {
namespace {

// One client's pictures, prompts and buffers.
class Client {
 public:
  Client(const Backbone& backbone, const StepBenchmarkOptions& options, std::size_t index,
         ThreadPool* threads)
      : backbone_(backbone), threads_(threads), batch_(options.batch), prompt_count_(options.prompts) {
    const Geometry& g = backbone.geometry();
    pixels_.resize(batch_ * g.patches(), g.patch_values());
    patches_.resize(batch_ * g.patches(), g.width);
    prompts_.resize(prompt_count_, g.width);
    d_prompts_.resize(prompt_count_, g.width);
    features_.resize(batch_ * g.special_tokens, g.width);
    d_features_.resize(batch_ * g.special_tokens, g.width);
    RandomStream stream(1, "bench step", index);
    for (auto* matrix : {&pixels_, &prompts_, &d_features_}) {
      for (std::size_t i = 0; i < matrix->rows() * matrix->cols(); ++i) {
        matrix->data()[i] = static_cast<float>(stream.uniform(-1, 1));
      }
    }
    tape_ = backbone.make_tape();
  }

  void forward(bool keep) {
    backbone_.embed(pixels_, patches_, threads_);
    backbone_.forward({batch_, prompt_count_, patches_, prompts_}, features_, keep ? tape_.get() : nullptr,
                      threads_);
  }
  void train() {
    forward(true);
    backbone_.backward(d_features_, d_prompts_, *tape_, threads_);
  }

 private:
  const Backbone& backbone_;
  ThreadPool* threads_;
  std::size_t batch_, prompt_count_;
  Matrix<float> pixels_, patches_, prompts_, d_prompts_, features_, d_features_;
  std::unique_ptr<Backbone::Tape> tape_;
};

// Steps per second over all clients, each client on a thread of its own.
double steps_per_second(std::vector<Client>& clients, double seconds,
                        const std::function<void(Client&)>& step) {
  return runs_per_second(clients.size(), seconds,
                         [&](std::size_t i) { return [&step, &client = clients[i]] { step(client); }; });
}

// One per client; those that have the machine to themselves share `pool`.
std::vector<Client> make_clients(const Backbone& backbone, const StepBenchmarkOptions& options,
                                 std::size_t count, ThreadPool* pool) {
  std::vector<Client> clients;
  clients.reserve(count);
  for (std::size_t i = 0; i < count; ++i) clients.emplace_back(backbone, options, i, pool);
  return clients;
}

double measure_product_gflops_in(Precision precision, const ProductShapes& shape, std::size_t threads,
                                 double seconds) {
  if (precision == Precision::bf16) return measure_product_gflops<Bf16Ops>(shape, threads, seconds);
  return measure_product_gflops<Fp32Ops>(shape, threads, seconds);
}

// Over the matrices that are most of any transformer's work: queries, keys and values at once, and the MLP's.
double measure_peak(const Backbone& backbone, const StepBenchmarkOptions& options, std::size_t threads) {
  const Geometry& g = backbone.geometry();
  const std::size_t rows = kImagesPerChunk * g.tokens(options.prompts);
  double peak = 0;
  for (const ProductShapes& shape :
       {ProductShapes{rows, 3 * g.width, g.width}, ProductShapes{rows, g.mlp_width, g.width},
        ProductShapes{rows, g.width, g.mlp_width}}) {
    peak =
        std::max(peak, measure_product_gflops_in(backbone.precision(), shape, threads, options.seconds / 6));
  }
  return peak;
}

}  // namespace

void StepBenchmarkOptions::validate() const {
  const auto check = [](bool good, const char* message) {
    if (!good) throw Error(ErrorCode::invalid_argument, message);
  };
  check(batch >= 1 && batch <= 4096, "batch must be between 1 and 4096");
  check(prompts <= 4096, "prompts must be at most 4096");
  check(threads <= 1024 && clients <= 1024, "threads and clients must be at most 1024");
  check(seconds > 0 && seconds <= 600, "seconds must be above 0 and at most 600");
}

double quiet_train_rate(const Backbone& backbone, StepBenchmarkOptions options) {
  constexpr std::size_t kTries = 5;
  options.validate();
  options.batch = std::min(options.batch, kImagesPerChunk);  // a larger one is computed in chunks of that
  auto clients =
      make_clients(backbone, options, options.threads == 0 ? available_threads() : options.threads, nullptr);
  double best = 0;
  const Stopwatch watch;
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    // A model of seconds a step has been looked at long enough after one.
    if (attempt > 0 && watch.seconds() > 2 * options.seconds) break;
    best = std::max(
        best, runs_per_second<ThreadStopwatch>(clients.size(), options.seconds / kTries, [&](std::size_t i) {
          return [&client = clients[i]] { client.train(); };
        }));
  }
  return best * static_cast<double>(options.batch);
}

StepBenchmark benchmark_step(const Backbone& backbone, const StepBenchmarkOptions& options) {
  options.validate();
  StepBenchmark result;
  result.threads = options.threads == 0 ? available_threads() : options.threads;
  result.clients = options.clients == 0 ? result.threads : options.clients;
  std::optional<ThreadPool> pool;
  if (result.clients == 1) pool.emplace(result.threads);
  auto clients = make_clients(backbone, options, result.clients, pool ? &*pool : nullptr);

  // The peak is taken before and after, and the better one counts: a quiet moment must not flatter the step.
  const double before = measure_peak(backbone, options, result.threads);
  const double images = static_cast<double>(options.batch);
  result.images_per_second_train = images * steps_per_second(clients, options.seconds, &Client::train);
  result.images_per_second_forward =
      images * steps_per_second(clients, options.seconds, [](Client& client) { client.forward(false); });
  result.gemm_peak_gflops = std::max(before, measure_peak(backbone, options, result.threads));

  const auto flops = architecture_of(backbone.geometry()).flops(backbone.geometry(), options.prompts);
  const double forward = 1e-9 * flops.forward, backward = 1e-9 * flops.backward;
  result.gflops_train = result.images_per_second_train * (forward + backward);
  result.gflops_forward = result.images_per_second_forward * forward;
  result.fraction_of_peak = result.gflops_train / result.gemm_peak_gflops;
  return result;
}

}  // namespace dfrost
