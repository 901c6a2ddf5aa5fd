#include "partition/partition_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

using Clients = std::vector<std::vector<std::size_t>>;

// Domains of pictures with these names, or of as many without any. The last of each domain that has names is
// a test picture.
Corpus pool_of(const std::vector<std::pair<std::string, std::vector<std::string>>>& domains) {
  Corpus corpus;
  for (const auto& [name, pictures] : domains) {
    Domain domain;
    domain.name = name;
    domain.first_train = corpus.train.size();
    domain.first_test = corpus.test.size();
    for (const auto& picture : pictures) {
      const bool is_test = !picture.empty() && &picture == &pictures.back();
      PictureSet& set = is_test ? corpus.test : corpus.train;
      set.records.emplace_back();
      set.name_last(picture);
    }
    domain.train_count = corpus.train.size() - domain.first_train;
    domain.test_count = corpus.test.size() - domain.first_test;
    corpus.domains.push_back(domain);
  }
  return corpus;
}

Corpus corpus_without_names(std::size_t pictures) {
  return pool_of({{"numbered", std::vector<std::string>(pictures)}});
}

Corpus corpus_of_insects() {
  return pool_of({{"mine", {"bee/1.png", "bee/2.png", "ant,\"1\".png", "ant/9.png"}}});
}

TEST(PartitionFile, ReadsBackWhatItWrote) {
  const Partition partition{{{0, 3, 4}, {1}, {2, 5}}};
  const auto corpus = corpus_without_names(6);
  const auto text = partition_text(partition, corpus);
  EXPECT_EQ(parse_partition(text, "split", corpus, 1).clients, partition.clients);
  EXPECT_EQ(text.substr(0, 23), "picture,client\n0,0\n1,1\n");
}

TEST(PartitionFile, NamesPicturesAsTheirFilesAndClientsAsTheyAreCalled) {
  const auto corpus = corpus_of_insects();
  const auto partition = parse_partition("File,Who\nbee/2.png,Zoé\n\"ant,\"\"1\"\".png\",7\nbee/1.png,Zoé\n",
                                         "split", corpus, 1);
  EXPECT_EQ(partition.clients, (Clients{{0, 1}, {2}}));
  EXPECT_EQ(partition.names, (std::vector<std::string>{"Zoé", "7"}));
  const auto text = partition_text(partition, corpus);
  EXPECT_EQ(text, "picture,client\nbee/1.png,Zoé\nbee/2.png,Zoé\n\"ant,\"\"1\"\".png\",7\n");
  EXPECT_EQ(parse_partition(text, "split", corpus, 1).clients, partition.clients);
}

TEST(PartitionFile, KeepsTheNumbersOfNamedClientsWhenItIsReadBack) {
  const auto corpus = corpus_of_insects();
  const Partition partition{{{2}, {0, 1}}, {"zoo", "anna"}};
  EXPECT_EQ(parse_partition(partition_text(partition, corpus), "split", corpus, 1).clients,
            partition.clients);
}

TEST(PartitionFile, PassesOverTestPictures) {
  EXPECT_EQ(parse_partition("ant/9.png,1\nbee/1.png,0\n1,1\n2,0\n", "split", corpus_of_insects(), 1).clients,
            (Clients{{0, 2}, {1}}));
}

TEST(PartitionFile, TellsEqualNamesApartByTheirDomains) {
  const auto corpus =
      pool_of({{"a", {"1.png", "2.png", "t.png"}}, {"numbered", {""}}, {"b", {"1.png", "3.png"}}});
  ASSERT_EQ(corpus.train.size(), 4u);
  const Partition partition{{{0, 1}, {2, 3}}};
  EXPECT_EQ(partition_text(partition, corpus), "picture,client\na:1.png,0\n2.png,0\n2,1\nb:1.png,1\n");
  EXPECT_EQ(parse_partition(partition_text(partition, corpus), "split", corpus, 1).clients,
            partition.clients);
  test::expect_error(ErrorCode::data_loss, "line 2: several pictures are called '1.png'",
                     [&] { parse_partition("2.png,0\n1.png,0\n", "split", corpus, 1); });
}

TEST(PartitionFile, TakesLinesInAnyOrderAndFromWindows) {
  EXPECT_EQ(parse_partition("2,0\r\n0,1\r\n\r\n1,0", "split", corpus_without_names(3), 1).clients,
            (Clients{{1, 2}, {0}}));
}

TEST(PartitionFile, NamesTheLineThatIsWrong) {
  const auto refused = [](ErrorCode code, std::string_view text, const std::string& part,
                          const Corpus& corpus = corpus_without_names(3)) {
    test::expect_error(code, part, [&] { parse_partition(text, "split.csv", corpus, 1); });
  };
  refused(ErrorCode::data_loss, "0,0\n1,0\n1,1\n2,0\n", "line 3: picture '1' is named twice");
  refused(ErrorCode::data_loss, "0,0\n1,0\n", "picture '2' is given to nobody");
  refused(ErrorCode::data_loss, "0,0\n1,0\n3,0\n", "line 3: there is no picture '3'");
  refused(ErrorCode::data_loss, "0,0\n1,0\n3,0\n", "go from 0 to 2");
  refused(ErrorCode::data_loss, "0,0\n1;0\n", "split.csv, byte 4");
  refused(ErrorCode::data_loss, "0,0\n1,-1\n2,0\n", "line 2: there cannot be a client '-1'");
  refused(ErrorCode::data_loss, "0,99999999999999999999999\n",
          "3 training pictures are enough for clients 0 to 2");
  refused(ErrorCode::failed_precondition, "0,0\n1,2\n2,0\n", "gives client 1 only 0");
  const auto insects = corpus_of_insects();
  refused(ErrorCode::data_loss, "bee/1.png,a\nbee/3.pgn,a\n", "line 2: there is no picture 'bee/3.pgn'",
          insects);
  refused(ErrorCode::data_loss, "bee/1.pgn,a\nbee/2.png,a\n", "did you mean 'bee/1.png'", insects);
  refused(ErrorCode::data_loss, "bee/1.png,a\n0,b\n", "line 2: picture '0' is named twice", insects);
  refused(ErrorCode::data_loss, "bee/2.png,a\n", "picture 'bee/1.png' is given to nobody, and 1 others",
          insects);
  test::expect_error(ErrorCode::failed_precondition, "gives client 'b' only 1 pictures; at least 2",
                     [&] { parse_partition("0,a\n1,a\n2,b\n", "split.csv", insects, 2); });
}

}  // namespace
}  // namespace dfrost
