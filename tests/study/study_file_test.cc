#include "study/study_file.h"

#include <gtest/gtest.h>

#include "dfrost/error.h"
#include "study/studies.h"

namespace dfrost {
namespace {

// The error of the study with one piece of its text replaced.
Error refusal(const std::string& piece, const std::string& by) {
  std::string text = test::kMergesStudy;
  const auto at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  text.replace(at, piece.size(), by);
  try {
    parse_study(text, "merges", "merges.toml", ".");
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "was taken: " << by;
  return {ErrorCode::internal, ""};
}

TEST(StudyFile, HoldsWhatItSays) {
  const auto study = test::merges_study();
  EXPECT_EQ(study.name, "merges");
  ASSERT_EQ(study.axes.size(), 2u);
  EXPECT_EQ(study.axes[1].values[0].name, "0.01");
  EXPECT_EQ(study.axes[1].values[1].keys[0].text, "train.learning_rate=0.1");
  EXPECT_EQ(study.tables[0].figures[0], "evaluation.accuracy_masked.mean");
  EXPECT_EQ(study.scale("")->name, "minutes");
  EXPECT_EQ(study.scale("full")->words, "nothing is reduced");
}

TEST(StudyFile, SaysInWhichLineItIsWrongAndWhatWasMeant) {
  const auto unknown = refusal("title = \"Merge\"", "titel = \"Merge\"");
  EXPECT_STREQ(unknown.what(), "there is no key 'titel' in [[axis]]");
  EXPECT_EQ(unknown.hint(), "did you mean 'title'?");
  EXPECT_EQ(unknown.place(), "merges.toml, line 9, column 1");
  EXPECT_EQ(refusal("\"consensus_error\"", "\"concensus_error\"").hint(), "did you mean 'consensus_error'?");
  EXPECT_EQ(refusal("rows = \"merge\"", "rows = \"marge\"").hint(), "did you mean 'merge'?");
  EXPECT_EQ(refusal("baseline = {merge = \"average\"}", "baseline = {merge = \"averag\"}").hint(),
            "did you mean 'average'?");
  EXPECT_STREQ(refusal("columns = \"rate\"", "").what(),
               "axis 'rate' is neither laid out nor held at one value");
  EXPECT_STREQ(refusal("seeds = [1, 2, 3, 4]", "seeds = [1, 1]").what(), "seed 1 stands there twice");
  EXPECT_STREQ(refusal("name = \"ot\"", "name = \"../ot\"").what(), "'../ot' is no plain name");
  EXPECT_STREQ(refusal("preset = \"demo\"", "").what(), "[base] names one experiment to start from");
  EXPECT_STREQ(refusal("[[\"ot\", \"0.1\", 44.5]]", "[[\"ot\", 44.5]]").what(),
               "this is not 2 value names and a number");
}

TEST(StudyFile, SaysWhatIsWrongWithATarget) {
  const auto with = [](const std::string& keys) {
    return refusal("[[figure]]",
                   "[[target]]\nname = \"soon\"\nrows = [\"merge\", \"rate\"]\n" + keys + "\n[[figure]]");
  };
  EXPECT_STREQ(with("").what(), "target 'soon' has no levels");
  EXPECT_STREQ(with("levels = [\"much\"]").what(), "a level is no number");
  EXPECT_EQ(with("levels = [80]\nfigure = \"acuracy_masked\"").hint(), "did you mean 'accuracy_masked'?");
  EXPECT_STREQ(with("levels = [80]\nreference = {values = [[\"ot\", \"0.1\", \"85\", 4.6]]}").what(),
               "a reference names no level '85'");
  EXPECT_STREQ(refusal("y = \"accuracy_masked\"", "scale = \"logarithmic\"").what(),
               "there is no scale 'logarithmic'");
}

}  // namespace
}  // namespace dfrost
