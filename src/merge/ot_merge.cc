#include "merge/ot_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "merge/prompt_space.h"
#include "merge/robust_step.h"
#include "merge/start.h"
#include "merge/theorem.h"
#include "merge/transport_step.h"

namespace dfrost {
namespace {

// A merged prompt with less than this share of 1/n is dead: whatever λ is, it stands for nothing.
constexpr double kDeadShare = 1e-6;
// Rows are served equally badly where what rounding leaves between them is all that differs.
constexpr double kSameService = 1e-9;
// Below this, dividing by a column's mass would overflow.
constexpr double kNoMass = 1e-290;

class OtMerge {
 public:
  OtMerge(const Neighbourhood& neighbourhood, std::size_t prompts, const MergeOptions& options)
      : options_(options),
        all_(neighbourhood),
        prompts_(prompts),
        lambda_(options.shrink == Shrink::off ? 0.0 : options.lambda),
        mass_and_log_(2, all_.mass.size()),
        plan_(prompts, all_.mass.size()),
        distances_(prompts, all_.mass.size()),
        column_mass_(prompts),
        twin_(prompts),
        has_died_(prompts),
        theorem_(lowest_objective(), std::min(smallest_epsilon(), lambda_ / options.sigma2)) {
    set_masses(all_.mass);
    if (options.median > 0) soft_radius_ = options.median * usual_distance(all_);
    summary_.form = options.form;
    if (options.form == MergeForm::automatic) {
      summary_.form = choose_form(all_.rows, prompts, options.steps, sharpness(smallest_epsilon()));
    }
    space_ = summary_.form == MergeForm::gram
                 ? make_gram_space(all_.rows, prompts)
                 : make_direct_space(all_.rows, prompts, sharpness(smallest_epsilon()));
  }

  MergedPrompts run() {
    place_at_start();
    TransportStep transport;
    bool is_fixed = false;  // the same ε again would give the same plan, to the last bit
    for (std::size_t step = 1; step <= options_.steps; ++step) {
      const double epsilon = epsilon_at(step);
      if (is_fixed && epsilon == epsilon_at(step - 1)) {
        transport.squared_plan_change = 0;
        record(epsilon, transport, 0, false);
      } else {
        if (options_.trim > 0)
          set_masses(trimmed_masses(distances_, sharpness(epsilon), all_.mass, options_.trim));
        transport = transport_step(distances_, sharpness(epsilon), mass_and_log_, plan_, column_mass_);
        const bool reseeded = update_position();
        const Move move = move_prompts();
        record(epsilon, transport, move.squared_length, reseeded);
        is_fixed = move.at_rest && !reseeded;
      }
      if (options_.early_stop && summary_.converged) break;
    }
    return finish();
  }

 private:
  void set_masses(std::span<const double> masses) {
    for (std::size_t a = 0; a < masses.size(); ++a) {
      mass_and_log_(0, a) = masses[a];
      mass_and_log_(1, a) = masses[a] > 0 ? std::log(masses[a]) : 0.0;  // 0·log 0 = 0
    }
  }

  // Σ q (log q): what of the entropy belongs to the choice of masses where a step makes one. Without it, J
  // falls in every step of a trimmed merge too.
  double entropy_of_masses() const {
    double sum = 0;
    for (std::size_t a = 0; a < plan_.cols(); ++a) sum += mass_and_log_(0, a) * mass_and_log_(1, a);
    return sum;
  }

  double sharpness(double epsilon) const { return 1 / (2 * options_.sigma2 * epsilon); }

  double first_epsilon() const {
    return options_.epsilon_init > 0 ? options_.epsilon_init : options_.epsilon;
  }
  double smallest_epsilon() const { return std::min(first_epsilon(), options_.epsilon); }

  double epsilon_at(std::size_t step) const {
    if (options_.epsilon_init <= 0 || step >= options_.steps) return options_.epsilon;
    const double way = static_cast<double>(step - 1) / static_cast<double>(options_.steps - 1);
    return options_.epsilon_init * std::pow(options_.epsilon / options_.epsilon_init, way);
  }

  // J* = −ε (log(nN) + 1). When ε changes from step to step, J at a fixed plan changes with it by at most
  // (ε − ε')(log(nN) + 1) in all, which the largest ε accounts for.
  double lowest_objective() const {
    const double cells = static_cast<double>(prompts_) * static_cast<double>(all_.mass.size());
    return -std::max(first_epsilon(), options_.epsilon) * (std::log(cells) + 1);
  }

  double objective(double epsilon, double entropy) const {
    const double scale = 1 / (2 * options_.sigma2);
    return scale * transport_cost(plan_, distances_) + epsilon * entropy +
           lambda_ * scale * space_->squared_norm();
  }

  // Φ(0), and P(0) = q ⊗ 1/n: every row spread evenly, before anything is known.
  void place_at_start() {
    position_ = {DoubleMatrix(prompts_, all_.rows.rows()), std::vector<double>(prompts_, 1.0)};
    const auto rows = choose_start(all_, prompts_, options_);
    for (std::size_t i = 0; i < prompts_; ++i) position_.weights(i, first_equal_row(rows, i)) = 1;
    move_prompts();
    double entropy = 0;
    for (std::size_t a = 0; a < all_.mass.size(); ++a) {
      const double share = all_.mass[a] / static_cast<double>(prompts_);
      for (std::size_t i = 0; i < prompts_; ++i) plan_(i, a) = share;
      entropy += all_.mass[a] * (mass_and_log_(1, a) - std::log(static_cast<double>(prompts_)) - 1);
    }
    summary_.initial_objective = objective(first_epsilon(), entropy);
    theorem_.start(summary_.initial_objective);
  }

  // Of the rows that prompts start from, the first that equals that of prompt i: equal prompts start from
  // one.
  std::size_t first_equal_row(const std::vector<std::size_t>& rows, std::size_t i) const {
    const auto own = all_.rows.row(rows[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (std::ranges::equal(all_.rows.row(rows[j]), own)) return rows[j];
    }
    return rows[i];
  }

  // Equal prompts stay equal. Left to itself, rounding would part them, differently in either form, and steps
  // at a small ε would make as much of that as of a true difference.
  void find_twins() {
    // Sums that equal prompts share and others hardly ever: rows of zeros need not be walked pair by pair.
    std::vector<double> marks(prompts_);
    for (std::size_t i = 0; i < prompts_; ++i) {
      const auto weights = std::as_const(position_.weights).row(i);
      for (std::size_t k = 0; k < weights.size(); ++k) marks[i] += weights[k] * static_cast<double>(k + 1);
      twin_[i] = i;
      for (std::size_t j = 0; j < i && twin_[i] == i; ++j) {
        if (marks[j] == marks[i] && twin_[j] == j && position_.scale[j] == position_.scale[i] &&
            std::ranges::equal(position_.weights.row(j), weights))
          twin_[i] = j;
      }
    }
  }

  Move move_prompts() {
    find_twins();
    const Move move = space_->move_to(position_, distances_);
    copy_to_twins(distances_);
    return move;
  }

  void copy_to_twins(DoubleMatrix& by_prompt) const {
    for (std::size_t i = 0; i < prompts_; ++i) {
      if (twin_[i] != i) std::ranges::copy(std::as_const(by_prompt).row(twin_[i]), by_prompt.row(i).begin());
    }
  }

  bool is_dead(std::size_t i) const { return column_mass_[i] * static_cast<double>(prompts_) < kDeadShare; }

  // eq. update_phi, and what is done with prompts that have no mass. Says whether any was reseeded.
  bool update_position() {
    summary_.softened_mass = 0;
    std::vector<std::size_t> to_reseed;
    for (std::size_t i = 0; i < prompts_; ++i) {
      if (is_dead(i)) {
        has_died_[i] = true;
        if (options_.dead == DeadPrompts::reseed) to_reseed.push_back(i);
        if (options_.dead != DeadPrompts::paper) continue;
      }
      const auto weights = position_.weights.row(i);
      std::ranges::copy(std::as_const(plan_).row(i), weights.begin());
      std::fill(weights.begin() + static_cast<std::ptrdiff_t>(plan_.cols()), weights.end(), 0.0);
      if (options_.median > 0) {
        summary_.softened_mass += soften(weights.first(plan_.cols()), std::as_const(distances_).row(i),
                                         soft_radius_, column_mass_[i]);
      }
      const double divisor = column_mass_[i] + lambda_;
      position_.scale[i] = divisor > kNoMass ? 1 / divisor : 0;
    }
    if (!to_reseed.empty()) reseed(to_reseed);
    return !to_reseed.empty();
  }

  // Each dead prompt onto a row of its own, worst served first: by mass times squared distance to the nearest
  // prompt. Of rows served equally badly the first.
  void reseed(const std::vector<std::size_t>& dead) {
    std::vector<double> unserved(plan_.cols());
    for (std::size_t a = 0; a < unserved.size(); ++a) {
      double nearest = distances_(0, a);
      for (std::size_t i = 1; i < prompts_; ++i) nearest = std::min(nearest, distances_(i, a));
      unserved[a] = all_.mass[a] * nearest;
    }
    for (const std::size_t i : dead) {
      const double most = *std::ranges::max_element(unserved);
      const auto worst = std::ranges::find_if(
          unserved, [&](double mass) { return mass >= most - kSameService * std::abs(most); });
      std::ranges::fill(position_.weights.row(i), 0.0);
      position_.weights(i, static_cast<std::size_t>(worst - unserved.begin())) = 1;
      position_.scale[i] = 1;
      *worst = -1;
      ++summary_.reseeds;
    }
  }

  void record(double epsilon, const TransportStep& transport, double squared_move, bool reseeded) {
    const double delta = std::sqrt(transport.squared_plan_change) + std::sqrt(squared_move);
    const double of_masses = options_.trim > 0 ? entropy_of_masses() : 0;
    summary_.objective.push_back(objective(epsilon, transport.entropy - of_masses));
    summary_.delta.push_back(delta);
    summary_.converged = delta < options_.tolerance;
    ++summary_.steps;
    if (reseeded) {
      theorem_.start(summary_.objective.back());
    } else {
      theorem_.add_step(delta);
    }
  }

  MergedPrompts finish() {
    for (std::size_t i = 0; i < prompts_; ++i) {
      if (is_dead(i)) summary_.dead.push_back(i);
      if (has_died_[i]) summary_.died.push_back(i);
    }
    summary_.column_mass = column_mass_;
    if (options_.trim > 0 || options_.median > 0)
      summary_.theorem = {.bound = std::numeric_limits<double>::infinity(), .smallest_delta = 0};
    else
      summary_.theorem = theorem_.check();
    summary_.plan.resize(plan_.cols() * prompts_);
    for (std::size_t a = 0; a < plan_.cols(); ++a) {
      for (std::size_t i = 0; i < prompts_; ++i) {
        const bool softened = options_.median > 0 && !is_dead(i);
        summary_.plan[a * prompts_ + i] = softened ? position_.weights(i, a) : plan_(i, a);
      }
    }
    summary_.off_index_mass = off_index_mass(all_, summary_.plan, prompts_);
    MergedPrompts merged{all_.embedded.rows() == 0
                             ? space_->prompts()
                             : combine_embedded(all_, position_.weights, position_.scale),
                         std::move(summary_)};
    copy_to_twins(merged.prompts);
    return merged;
  }

  const MergeOptions& options_;
  const Neighbourhood& all_;
  std::size_t prompts_;
  double lambda_;              // as it acts: 0 when shrinking is off
  double soft_radius_ = 0;     // a row further than this from a prompt loses weight in it, with a median
  DoubleMatrix mass_and_log_;  // q and log q, [2, N]
  std::unique_ptr<PromptSpace> space_;
  Position position_;       // Φ
  DoubleMatrix plan_;       // Pᵀ, [n, N]
  DoubleMatrix distances_;  // ‖z_a − φ_i‖², [n, N]
  std::vector<double> column_mass_;
  std::vector<std::size_t> twin_;  // of each prompt, the first that equals it: itself, mostly
  std::vector<bool> has_died_;     // in some step
  TheoremOne theorem_;
  MergeSummary summary_;
};

}  // namespace

MergedPrompts ot_merge(const Neighbourhood& neighbourhood, std::size_t prompts, const MergeOptions& options) {
  return OtMerge(neighbourhood, prompts, options).run();
}

}  // namespace dfrost
