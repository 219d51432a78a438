// SPDX-License-Identifier: Apache-2.0
#include "hint/near_words.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "hint/near_names.h"

namespace telltale::hint {

namespace {

// The command given last, "ttctl debug enable": options of it and of those that lead to it are known.
std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* level = &app; level != nullptr;) {
    for (const CLI::Option* option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    const std::vector<CLI::App*> given = level->get_subcommands();
    level = given.empty() ? nullptr : given.front();
  }
  return names;
}

// Last word -> the words that lead to it: "enable" -> "debug enable".
void add_commands(const CLI::App& app, const std::string& before, std::vector<std::pair<std::string, std::string>>& found) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    found.emplace_back(command->get_name(), before + command->get_name());
    add_commands(*command, before + command->get_name() + ' ', found);
  }
}

std::vector<std::string> quoted(std::vector<std::string> names) {
  for (std::string& name : names) name = "'" + name + "'";
  return names;
}

}  // namespace

std::string near_words(const CLI::App& app) {
  const std::vector<std::string> left_over = app.remaining(true);
  if (left_over.empty()) return {};
  const std::string word = left_over.front().substr(0, left_over.front().find('='));
  if (word.starts_with("-")) return did_you_mean(quoted(near_names(word, options_of(app))));

  // A word behind a whole command is an argument too many, and no command.
  const CLI::App* level = &app;
  while (!level->get_subcommands().empty()) level = level->get_subcommands().front();
  if (level->get_subcommands([](const CLI::App*) { return true; }).empty()) return {};
  std::vector<std::pair<std::string, std::string>> commands;
  add_commands(app, {}, commands);
  std::vector<std::string> words;
  for (const auto& [last, all] : commands) {
    if (std::find(words.begin(), words.end(), last) == words.end()) words.push_back(last);
  }
  std::vector<std::string> near;
  for (const std::string& last : near_names(word, words)) {
    for (const auto& [name, all] : commands) {
      if (name == last && near.size() < kNearNamesMax) near.push_back(all);
    }
  }
  return did_you_mean(quoted(std::move(near)));
}

}  // namespace telltale::hint
