// Before the first round: the moments of what heads read (train.head_coordinates), mixed over the network.
// Every client takes them over its own pictures under its first prompts; then, phase by phase, all send what
// they have to their neighbours and mix what comes by mixing weight and count, so that mean and covariance
// are those of all pictures as far as mixing has come: ratio consensus. What is left in a node's memory is
// the frame alone. Neighbours learn each other's moments.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "run/phase.h"
#include "train/head_frame.h"

namespace dfrost {

class MomentsPhase final : public Phase {
 public:
  struct Turn {
    bool first = true;  // takes a node's own
    bool last = true;   // makes the frame
    bool exchanges = true;
  };
  MomentsPhase(const HeadFrameOptions& options, Turn turn, std::size_t batch, Seed seed)
      : options_(options), turn_(turn), batch_(batch), seed_(seed) {}

  std::string_view work_stage() const override { return "moments"; }
  std::string_view absorb_stage() const override { return "mix"; }
  bool speaks(NodeRole) const override { return turn_.exchanges; }
  LetterKind kind() const override { return LetterKind::moments; }
  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  HeadFrameOptions options_;
  Turn turn_;
  std::size_t batch_;
  Seed seed_;
};

// All of them, in their order; none for raw coordinates, nor where the frame comes with the backbone.
std::vector<std::unique_ptr<const Phase>> moments_phases(const HeadFrameOptions& options, std::size_t batch,
                                                         Seed seed);

// Puts a frame into a node's memory.
void give_frame(FrameParts parts, Node& node);
// The frame in a node's memory; nothing where it has none, and its head is trained as it is.
std::optional<HeadFrame> frame_of(const Node& node);

// Turns the first layer of a node's head into its frame's coordinates for as long as it lives, and has the
// workspace train it there.
class FramedHead {
 public:
  FramedHead(Node& node, Workspace& workspace);
  ~FramedHead();
  FramedHead(const FramedHead&) = delete;
  FramedHead& operator=(const FramedHead&) = delete;

  // The step that a gradient, taken in these coordinates, means for the head as it is; in place.
  void turn_back(std::span<float> gradient) const;

 private:
  Node& node_;
  Workspace& workspace_;
  std::optional<HeadFrame> frame_;
};

}  // namespace dfrost
