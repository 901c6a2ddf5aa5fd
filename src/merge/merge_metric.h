// Which distances of prompts a run's merges transport by.
#pragma once

namespace dfrost {

enum class MergeMetric {
  embedding,    // of the prompts as they are, as the paper has it
  first_block,  // of what the backbone's first block makes of them: keys and values, without the norm's
                // division
};

}  // namespace dfrost
