#include "config/privacy_check.h"

#include <fmt/format.h>

#include "dfrost/error.h"

namespace dfrost {
namespace {

[[noreturn]] void refuse_privacy(const char* key, const std::string& message, const std::string& hint) {
  throw Error(ErrorCode::invalid_argument, message, hint).at(key);
}

// Of every kind: what travels beside the state, or follows another round.
void check_what_travels(const RunConfig& config) {
  if (config.method.round != RoundKind::update)
    refuse_privacy("privacy.kind",
                   fmt::format("a round of kind '{}' exchanges around a gradient that nothing protects",
                               to_string(config.method.round)),
                   "use method.round 'update'");
  if (config.pool_grows())
    refuse_privacy("merge.pool",
                   "which prompts of a growing pool travel tells which of them a client's pictures chose",
                   "use merge.pool 'fixed'");
  if (config.merge.head == HeadMerge::class_mass)
    refuse_privacy("merge.head",
                   "'class-mass' tells neighbours how many pictures of each class a client has, and that is "
                   "in no ε",
                   "use merge.head 'average'");
  const auto& frame = config.train.frame;
  if (frame.coordinates != HeadCoordinates::raw && frame.moments == MomentsOf::network)
    refuse_privacy("train.head_moments",
                   "'network' sends mean and covariance of a client's features before the first round, and "
                   "train.moment_noise is a share of their size, which is in no ε",
                   "use train.head_moments 'backbone', which tells nothing, or train.head_coordinates 'raw'");
}

void check_examples(const RunConfig& config) {
  if (config.train.optimizer.sam_radius > 0)
    refuse_privacy("train.sam_radius", "SAM's ascent follows a gradient that no noise protects",
                   "use train.sam_radius 0, or privacy.kind 'client'");
  if (config.prompts.pool > config.prompts.count)
    refuse_privacy("prompts.pool",
                   "what chooses prompts from a pool is trained by gradients that are not yet clipped "
                   "picture by picture",
                   "use prompts.pool 0, or privacy.kind 'client'");
  if (config.train.frame.coordinates != HeadCoordinates::raw && !config.takes_backbone_moments())
    refuse_privacy(
        "train.head_coordinates",
        "a head that is turned back from other coordinates carries the covariance of its "
        "client's pictures, which no noise protects",
        "use train.head_moments 'backbone', or train.head_coordinates 'raw', or privacy.kind 'client' with "
        "train.head_moments 'own'");
}

void check_client(const RunConfig& config) {
  if (!config.method.exchanges())
    refuse_privacy("privacy.kind",
                   fmt::format("with method.cooperation '{}' nothing is sent that 'client' could protect",
                               to_string(config.method.cooperation)),
                   "use privacy.kind 'examples'");
  if (config.method.cooperation == Cooperation::server)
    refuse_privacy("method.cooperation", "clients tell the server how many pictures they have",
                   "use method.cooperation 'peers', or privacy.kind 'examples'");
}

}  // namespace

void check_privacy(const RunConfig& config) {
  if (config.privacy.kind == PrivacyKind::none) return;
  check_what_travels(config);
  if (config.privacy.kind == PrivacyKind::examples) return check_examples(config);
  check_client(config);
}

}  // namespace dfrost
