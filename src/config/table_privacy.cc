#include "config/fields.h"

namespace dfrost::fields {

std::vector<ConfigKey> privacy_keys() {
  return {
      {.section = "privacy",
       .name = "kind",
       .field = word(DFROST_AT(privacy.kind),
                     words({PrivacyKind::none, PrivacyKind::examples, PrivacyKind::client})),
       .comment = "none, every picture (examples), or all of a client's pictures at once (client)",
       .explanation =
           "examples: batches are drawn at random, each picture's gradient of prompts and head is cut to "
           "privacy.clip, and their sum is noised at every step. client: what a round changed is cut and "
           "noised before it is sent, and the client itself goes on from that. In a simulation noise comes "
           "from run.seed; between sites from the system's generator. docs/explanation/privacy.md says what "
           "is protected from whom."},
      {.section = "privacy",
       .name = "clip",
       .field = positive(DFROST_AT(privacy.clip)),
       .comment = "longest gradient of a picture, or update of a client: what is longer is cut to it",
       .explanation = "Too small, everything is cut to the same length; too large, noise grows with it."},
      {.section = "privacy",
       .name = "noise",
       .field = positive(DFROST_AT(privacy.noise)),
       .comment = "deviation of the noise, times privacy.clip",
       .explanation = "Says nothing where privacy.target_epsilon does."},
      {.section = "privacy",
       .name = "delta",
       .field = NumberField{place<double>(DFROST_AT(privacy.delta)), 0, 1, true, true},
       .comment = "delta of the promise (epsilon, delta)",
       .explanation = "To be far below one over the number of a client's pictures."},
      {.section = "privacy",
       .name = "target_epsilon",
       .field = not_negative(DFROST_AT(privacy.target_epsilon)),
       .comment =
           "each client takes the noise that keeps it at this epsilon over all rounds; 0: as privacy.noise",
       .explanation =
           "From its number of pictures, run.rounds and what [train] says. A run with a target cannot be "
           "made longer afterwards."},
  };
}

}  // namespace dfrost::fields
