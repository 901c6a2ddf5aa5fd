#include "run/workforce.h"

#include "network/in_process_exchange.h"
#include "run/mailbox_rules.h"
#include "run/saved_nodes.h"

namespace dfrost {
namespace {

std::vector<Node> first_nodes(const Groundwork& ground) {
  std::vector<Node> nodes;
  nodes.reserve(ground.planner.nodes());
  for (std::size_t u = 0; u < ground.planner.nodes(); ++u)
    nodes.push_back(ground.first_node(static_cast<ClientId>(u)));
  return nodes;
}

class LocalWorkforce final : public Workforce {
 public:
  explicit LocalWorkforce(const Groundwork& ground)
      : ground_(ground),
        nodes_(first_nodes(ground)),
        exchanges_(nodes_.size(), mailbox_options(ground.method, ground.planner.rounds_ahead(), nodes_)),
        workshop_(ground, nodes_,
                  {.exchange_of = [this](ClientId node) -> Exchange& { return exchanges_.exchange_of(node); },
                   .threads = ground.config.run.threads}) {}

  const std::vector<Node>& nodes() const override { return nodes_; }
  void restore(const SavedNodes& saved) override { restore_nodes(saved, ground_.config.train, nodes_); }
  WorkDone run_round(const RoundPlan& plan, const RoundProgressCallback& progress) override {
    return workshop_.run_round(plan, progress);
  }
  WorkDone prepare(const RoundProgressCallback& progress) override { return workshop_.prepare(progress); }
  std::vector<Evaluation> evaluate(std::size_t models, const ModelAt& model_at,
                                   const RoundProgressCallback& progress) override {
    return workshop_.evaluate(models, model_at, progress);
  }
  Workshop& workshop() override { return workshop_; }

 private:
  const Groundwork& ground_;
  std::vector<Node> nodes_;
  InProcessNetwork exchanges_;
  Workshop workshop_;
};

}  // namespace

std::unique_ptr<Workforce> make_local_workforce(const Groundwork& ground) {
  return std::make_unique<LocalWorkforce>(ground);
}

}  // namespace dfrost
