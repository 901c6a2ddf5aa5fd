// `dfrost completion` and `dfrost man`: what shells and man(1) know of the commands, told by the commands.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/command_tree.h"
#include "cli/man_page.h"
#include "cli/shell_completion.h"

namespace dfrost::cli {

void add_completion_command(CLI::App& app) {
  auto* command =
      add_command(app, "completion", "What a shell needs to complete the commands and options of dfrost.",
                  {"dfrost completion bash > ~/.local/share/bash-completion/completions/dfrost",
                   "dfrost completion zsh > ~/.zfunc/_dfrost      in a folder of your $fpath",
                   "dfrost completion fish > ~/.config/fish/completions/dfrost.fish"});
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell] {
    const auto root = describe_commands(app);
    fmt::print("{}", *shell == "bash"  ? bash_completion(root)
                     : *shell == "zsh" ? zsh_completion(root)
                                       : fish_completion(root));
  });
}

void add_man_command(CLI::App& app) {
  auto* command = add_command(app, "man", "The manual page of dfrost, with every command and option.",
                              {"dfrost man | man -l -", "dfrost man > dfrost.1"});
  command->callback([&app] { fmt::print("{}", man_page(describe_commands(app))); });
}

}  // namespace dfrost::cli
